# A node in a container:
#
#     docker build -t ibex .
#     docker run -p 127.0.0.1:8545:8545 -p 127.0.0.1:8546:8546 -v ibex:/data ibex
#
# The base needs a Node.js that package.json's "engines" names, npm and the GNU C library.
ARG BASE=docker.io/library/node:22-bookworm-slim

FROM ${BASE} AS build
WORKDIR /opt/ibex
COPY . .
# Afterwards removes what only the build needs, and native code of other platforms.
RUN node scripts/setup.mjs \
    && rm -rf node_modules/ibex-build node_modules/rolldown node_modules/@rolldown node_modules/@oxc-project scripts src \
    && find node_modules -path '*/prebuilds/*' -type d -prune ! -name "$(node -p 'process.platform + "-" + process.arch')*" -exec rm -rf {} +

FROM ${BASE}
COPY --from=build /opt/ibex /opt/ibex
RUN ln -s /opt/ibex/dist/main.js /usr/local/bin/ibex \
    && chmod +x /opt/ibex/dist/main.js \
    && mkdir -m 700 /data \
    && chown 1000:1000 /data
USER 1000:1000
# Relative paths start here: the data folder is /data/ibex-data unless --data-path names another.
WORKDIR /data
VOLUME /data
ENV NODE_ENV=production IBEX_HEALTH_URL=http://127.0.0.1:8545/liveness \
    MALLOC_MMAP_THRESHOLD_=65536 MALLOC_TRIM_THRESHOLD_=1048576
# HTTP, WebSocket, metrics, peers.
EXPOSE 8545 8546 9545 30303
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
    CMD ["node", "-e", "fetch(process.env.IBEX_HEALTH_URL).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
# The node is the first process, so that it receives the stop signal.
ENTRYPOINT ["node", "--max-semi-space-size=64", "/opt/ibex/dist/main.js"]
# Without arguments it runs the development network, reachable from outside the container.
CMD ["--rpc-http-host=0.0.0.0", "--rpc-ws-host=0.0.0.0"]
