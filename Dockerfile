# docker build -t geomm . && docker run --rm -v "$PWD:/data" geomm align en=en.vec es=es.vec ...
# EXTRAS: what to install beside the core, e.g. --build-arg EXTRAS='[gensim,plot]'.
FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY geomm_plugin geomm_plugin
COPY adapters adapters
ARG EXTRAS=""
RUN python -m venv /opt/geomm \
    && /opt/geomm/bin/pip install --no-cache-dir --disable-pip-version-check ".${EXTRAS}"

FROM python:3.12-slim
COPY --from=build /opt/geomm /opt/geomm
RUN useradd --create-home --uid 1000 geomm
USER geomm
WORKDIR /data
ENV PATH="/opt/geomm/bin:$PATH"
ENTRYPOINT ["geomm"]
CMD ["--help"]
