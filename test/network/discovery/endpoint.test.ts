import { expect, it } from "vitest";
import { ipEndpointOf } from "../../../src/network/discovery/endpoint.ts";

const NODE = { nodeId: new Uint8Array(64), tcpPort: 30303 };

it.each([
  ["10.0.0.1", "10.0.0.1", [10, 0, 0, 1]],
  ["::ffff:7f00:1", "127.0.0.1", [127, 0, 0, 1]],
])("a node at %s listens at %s, in bytes too", (host, text, ip) => {
  expect(ipEndpointOf({ ...NODE, host })).toEqual({ ...NODE, host: text, ip: Uint8Array.from(ip) });
});

it("a node whose host is a name has no endpoint before the name is resolved", () => {
  expect(ipEndpointOf({ ...NODE, host: "node.example" })).toBe(undefined);
});
