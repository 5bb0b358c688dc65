# A static program in an image that holds nothing else but a trust store.
#
#   docker build -t wikijs-gate .
#
# Over standard input and output, for one client that starts it:
#
#   docker run --rm -i --read-only --tmpfs /tmp --cap-drop ALL -v wikijs-gate:/var/lib/wikijs-gate \
#     -e WIKI_BASE_URL=https://wiki.example.com -e WIKI_API_TOKEN wikijs-gate
#
# Over HTTP, for clients that are named before it begins:
#
#   docker run --rm -v wikijs-gate:/var/lib/wikijs-gate wikijs-gate token new ci
#   docker run -d --name wikijs-gate --restart unless-stopped --stop-timeout 60 \
#     --read-only --tmpfs /tmp --cap-drop ALL -v wikijs-gate:/var/lib/wikijs-gate \
#     -p 127.0.0.1:8765:8765 -e WIKI_SERVE_ADDRESS=0.0.0.0:8765 \
#     -e WIKI_BASE_URL=https://wiki.example.com -e WIKI_API_TOKEN wikijs-gate
FROM rust:1.95.0-alpine3.22 AS build
# The base image is of one version, and its packages with it.
# hadolint ignore=DL3018
RUN apk add --no-cache ca-certificates-bundle make musl-dev perl
WORKDIR /build
COPY . .
RUN cargo build --profile dist --locked --bin wikijs-gate \
    && mkdir -p /state /temporary && chown 65532:65532 /state && chmod 700 /state \
    && chmod 1777 /temporary

FROM scratch
# By this the registry knows whose image it is: the name in server.json.
LABEL io.modelcontextprotocol.server.name="io.github.wikijs-gate/wikijs-gate"
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /build/target/dist/wikijs-gate /usr/local/bin/wikijs-gate
# What is to stay is below the volume; what is not, the index in memory, may need a file without a
# name. All else may be read-only.
COPY --from=build /temporary /tmp
COPY --from=build --chown=65532:65532 /state /var/lib/wikijs-gate
# These are places, no secrets.
# hadolint ignore=DL3064
ENV WIKI_AUDIT_DIR=/var/lib/wikijs-gate/audit \
    WIKI_INDEX_DIR=/var/lib/wikijs-gate/index \
    WIKI_SERVE_TOKENS_FILE=/var/lib/wikijs-gate/tokens
VOLUME /var/lib/wikijs-gate
USER 65532:65532
# It asks /healthz at WIKI_SERVE_ADDRESS. Over stdio there is nothing to ask: a client sees at once
# whether its server lives.
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s CMD ["/usr/local/bin/wikijs-gate", "health"]
ENTRYPOINT ["/usr/local/bin/wikijs-gate"]
CMD ["serve"]
