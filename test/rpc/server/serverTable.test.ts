import { expect, it } from "vitest";
import { endpointsByService, portsByFile } from "../../../src/rpc/server/serverTable.ts";

const ENDPOINTS = {
  http: { host: "127.0.0.1", port: 8545 },
  ipc: { path: "/run/ibex.ipc" },
  webSocket: undefined,
  explorer: { host: "127.0.0.1", port: 8080 },
  metrics: { host: "127.0.0.1", port: 9545 },
};

it("the file of ports names the servers that listen at one", () => {
  expect(portsByFile(ENDPOINTS)).toEqual({ "json-rpc": 8545, explorer: 8080, metrics: 9545 });
});

it("services are those that the status or net_services lists", () => {
  expect(endpointsByService(ENDPOINTS)).toEqual({ jsonrpc: ENDPOINTS.http, metrics: ENDPOINTS.metrics });
});
