# A static program in an image that holds nothing else but a trust store.
#
#   docker build -t wikijs-mcp .
#
# Over standard input and output, for one client that starts it:
#
#   docker run --rm -i --read-only --tmpfs /tmp --cap-drop ALL -v wikijs-mcp:/var/lib/wikijs-mcp \
#     -e WIKI_BASE_URL=https://wiki.example.com -e WIKI_API_TOKEN wikijs-mcp
#
# Over HTTP, for clients that are named before it begins:
#
#   docker run --rm -v wikijs-mcp:/var/lib/wikijs-mcp wikijs-mcp token new ci
#   docker run -d --name wikijs-mcp --restart unless-stopped --stop-timeout 60 \
#     --read-only --tmpfs /tmp --cap-drop ALL -v wikijs-mcp:/var/lib/wikijs-mcp \
#     -p 127.0.0.1:8765:8765 -e WIKI_SERVE_ADDRESS=0.0.0.0:8765 \
#     -e WIKI_BASE_URL=https://wiki.example.com -e WIKI_API_TOKEN wikijs-mcp
FROM rust:1.95.0-alpine3.22 AS build
RUN apk add --no-cache ca-certificates-bundle make musl-dev perl
WORKDIR /build
COPY . .
RUN cargo build --profile dist --locked --bin wikijs-mcp \
    && mkdir -p /state /temporary && chown 65532:65532 /state && chmod 700 /state \
    && chmod 1777 /temporary

FROM scratch
# By this the registry knows whose image it is: the name in server.json.
LABEL io.modelcontextprotocol.server.name="io.github.wikijs-mcp/wikijs-mcp"
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /build/target/dist/wikijs-mcp /usr/local/bin/wikijs-mcp
# What is to stay is below the volume; what is not, the index in memory, may need a file without a
# name. All else may be read-only.
COPY --from=build /temporary /tmp
COPY --from=build --chown=65532:65532 /state /var/lib/wikijs-mcp
ENV WIKI_AUDIT_DIR=/var/lib/wikijs-mcp/audit \
    WIKI_INDEX_DIR=/var/lib/wikijs-mcp/index \
    WIKI_SERVE_TOKENS_FILE=/var/lib/wikijs-mcp/tokens
VOLUME /var/lib/wikijs-mcp
USER 65532:65532
# It asks /healthz at WIKI_SERVE_ADDRESS. Over stdio there is nothing to ask: a client sees at once
# whether its server lives.
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s CMD ["/usr/local/bin/wikijs-mcp", "health"]
ENTRYPOINT ["/usr/local/bin/wikijs-mcp"]
CMD ["serve"]
