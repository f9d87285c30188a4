# The environment of the hashed lock in a container. From an unpacked archive it draws everything
# again from the packed results; from a checkout it simulates first.
#   docker build -t dpbandits .
#   docker run --rm -v "$PWD/out:/home/evaluator/out" dpbandits sh -c "make figures verdicts && cp -a figures results ../out"
FROM python:3.11.7-slim-bookworm

# make is all that is missing; no compiler, every package of the lock has a wheel or is pure Python.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends make=4.3-* \
    && rm -rf /var/lib/apt/lists/*

RUN useradd --create-home --uid 1000 evaluator
USER 1000
WORKDIR /home/evaluator/dpbandits

# File times are kept: they say that packed results are newer than what is drawn from them.
COPY --chown=evaluator:evaluator . .
RUN make .venv/installed

CMD ["make", "figures", "verdicts"]
