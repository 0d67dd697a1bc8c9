# A static binary with the rules in it, and the pack of community rules beside it. Build: docker build -t toolmark .
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -pgo=cmd/toolmark/serve.pgo -ldflags '-s -w' -o /out/toolmark ./cmd/toolmark \
 && mkdir -p /out/data \
 && XDG_CACHE_HOME=/out/cache /out/toolmark rules update

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /out/toolmark /toolmark
COPY --from=build --chown=65532:65532 /out/data /data
COPY --from=build /out/cache /cache
USER 65532:65532
# Inside a container the loopback address reaches nobody. Publish the port to the
# host's loopback address only, or put a proxy with TLS in front of it.
ENV TOOLMARK_ADDR=0.0.0.0:8080 \
    TOOLMARK_DATABASE=sqlite:/data/toolmark.db \
    TOOLMARK_LOG_FORMAT=json \
    XDG_CACHE_HOME=/cache
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=5s --timeout=5s --start-period=30s CMD ["/toolmark", "serve", "--ready"]
ENTRYPOINT ["/toolmark"]
CMD ["serve"]
