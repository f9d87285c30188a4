# Runs a command with all file systems read-only but for two folders, no network and no home.
# Usage: unshare --map-root-user --mount --net sh isolated.sh ROOT PROJECT SCRATCH COMMAND...
set -e
root=$1 project=$2 scratch=$3
shift 3
mount --rbind / "$root"
# One by one: what is mounted below is not read-only by what it is mounted on. Where one is mounted
# over another, the upper one is what can be reached.
findmnt --submounts --list --noheadings --output TARGET "$root" | while IFS= read -r target; do
  options=$(findmnt --noheadings --output VFS-OPTIONS --mountpoint "$target" | tail -n 1)
  mount -o "remount,bind,ro,${options#rw,}" "$target"
done
mount --bind "$project" "$root$project"
mount --bind "$scratch" "$root$scratch"
mount -t tmpfs tmpfs "$root/dev/shm"
HOME=/nowhere TMPDIR=$scratch chroot "$root" sh -c 'cd "$0" && "$@"' "$project" "$@"
ls -A "$root/dev/shm" >"$scratch/left-in-shared-memory"
