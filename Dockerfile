# guardfix alone, for checking and migrating: docs/ci.md says how to use it.
FROM python:3.12-slim AS build
WORKDIR /build
COPY . .
RUN python -m pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.12-slim
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir /wheels/*.whl && useradd --create-home guardfix
USER guardfix
WORKDIR /src
ENTRYPOINT ["guardfix"]
CMD ["--help"]
