# Runs a command with the file system read-only but for two folders, no network and no home.
# Usage: unshare --map-root-user --mount --net sh isolated.sh ROOT PROJECT SCRATCH COMMAND...
set -e
root=$1 project=$2 scratch=$3
shift 3
mount --rbind / "$root"
mount -o remount,bind,ro "$root"
mount --bind "$project" "$root$project"
mount --bind "$scratch" "$root$scratch"
mount -t tmpfs tmpfs "$root/dev/shm"
HOME=/nowhere TMPDIR=$scratch chroot "$root" sh -c 'cd "$0" && "$@"' "$project" "$@"
ls -A "$root/dev/shm" >"$scratch/left-in-shared-memory"
