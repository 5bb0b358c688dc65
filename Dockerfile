# A static program in an image that holds nothing else but a trust store.
#
#   docker build -t wikijs-mcp .
#   docker run --rm -i --read-only --cap-drop ALL -v wikijs-mcp:/var/lib/wikijs-mcp \
#     -e WIKI_BASE_URL=https://wiki.example.com -e WIKI_API_TOKEN wikijs-mcp
FROM rust:1-alpine AS build
RUN apk add --no-cache musl-dev cmake make perl
WORKDIR /build
COPY . .
RUN cargo build --release --locked --bin wikijs-mcp \
    && mkdir -p /state && chown 65532:65532 /state && chmod 700 /state

FROM gcr.io/distroless/static-debian12:nonroot
# By this the registry knows whose image it is: the name in server.json.
LABEL io.modelcontextprotocol.server.name="io.github.wikijs-mcp/wikijs-mcp"
COPY --from=build /build/target/release/wikijs-mcp /usr/local/bin/wikijs-mcp
# The audit log is the one thing that is written: the rest may be read-only.
COPY --from=build --chown=65532:65532 /state /var/lib/wikijs-mcp
ENV WIKI_AUDIT_DIR=/var/lib/wikijs-mcp/audit WIKI_INDEX_DIR=/var/lib/wikijs-mcp/index
VOLUME /var/lib/wikijs-mcp
USER 65532:65532
# Over stdio a client sees at once whether it lives; this says whether the program can run at all.
HEALTHCHECK --interval=30s --timeout=3s CMD ["/usr/local/bin/wikijs-mcp", "--version"]
ENTRYPOINT ["/usr/local/bin/wikijs-mcp"]
CMD ["serve"]
