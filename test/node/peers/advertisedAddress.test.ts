import { describe, expect, it } from "vitest";
import type { NatSettings } from "../../../src/config/natSettings.ts";
import { findAdvertisedAddress, reportAddress } from "../../../src/node/peers/advertisedAddress.ts";
import { loggedLines } from "../../builders/loggedLines.ts";

describe("the announced address", () => {
  it.each([
    ["NONE", true, "192.0.2.7", { host: "10.0.0.1", port: 30303, source: "p2p-host" }],
    ["AUTO", false, "192.0.2.7", { host: "10.0.0.1", port: 30303, source: "p2p-host" }],
    ["AUTO", true, "192.0.2.7", { host: "192.0.2.7", port: 40404, source: "HOST_IP" }],
    ["AUTO", true, undefined, { host: "10.0.0.1", port: 40404, source: "p2p-host" }],
    ["DOCKER", false, "192.0.2.7", { host: "192.0.2.7", port: 40404, source: "HOST_IP" }],
  ] as const)("by %s (in Docker: %s, HOST_IP: %s)", async (method, isInDocker, ip, expected) => {
    const { found, lines } = await find(method, isInDocker, ip);
    expect({ host: found.host, port: found.portOf(30303), source: found.source }).toEqual(expected);
    expect(found.portOf(30304)).toBe(30304);
    expect(lines).toEqual([]);
  });

  it("is p2p-host, with a warning, when DOCKER is asked for and nobody says HOST_IP", async () => {
    const { found, lines } = await find("DOCKER", true, undefined);
    expect(found).toMatchObject({ host: "10.0.0.1", source: "p2p-host" });
    expect(lines).toMatchObject([
      { level: "WARN", message: expect.stringContaining("--add-host HOST_IP:<address>") as string },
    ]);
  });

  it.each([
    ["127.0.0.1", "0.0.0.0", true, 1],
    ["127.0.0.1", "::", true, 1],
    ["127.0.0.1", "127.0.0.1", true, 0],
    ["127.0.0.1", "0.0.0.0", false, 0],
    ["192.0.2.7", "0.0.0.0", true, 0],
  ])(
    "%s of a node that listens on %s (to be found: %s) gives %i hints",
    (host, listensOn, isFound, count) => {
      const { logger, lines } = loggedLines();
      const enode = `enode://ab@${host}:30303`;
      reportAddress(enode, { host, source: "p2p-host", listensOn, isFound, logger: logger.child("network") });
      expect(lines[0]).toMatchObject({ level: "INFO", enode, source: "p2p-host" });
      expect(lines.slice(1).map(({ level, message }) => `${level} ${message}`)).toEqual(
        Array<string>(count).fill(
          "INFO this enode URL works on this machine only: nodes that discovery finds see the address that this node's datagrams come from, but an enode URL for bootnodes or static nodes needs --p2p-host",
        ),
      );
    },
  );
});

async function find(method: NatSettings["method"], isInDocker: boolean, ip: string | undefined) {
  const { logger, lines } = loggedLines();
  const found = await findAdvertisedAddress(
    { advertisedHost: "10.0.0.1", nat: { method, hostPorts: new Map([[30303, 40404]]) } },
    {
      machine: { isInDocker: () => isInDocker, addressOf: () => Promise.resolve(ip) },
      logger: logger.child("network"),
    },
  );
  return { found, lines };
}
