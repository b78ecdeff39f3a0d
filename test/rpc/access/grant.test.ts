import { describe, expect, it } from "vitest";
import { grantOpenMethods, grantPermissions } from "../../../src/rpc/access/grant.ts";

const NONE: ReadonlySet<string> = new Set();

function allowed(permission: string, name: string): boolean {
  return grantPermissions(new Set([permission]), NONE).allows({ name });
}

describe("a permission", () => {
  it.each([
    ["*:*", "admin_addPeer", true],
    ["eth:*", "eth_call", true],
    ["eth:*", "net_version", false],
    ["eth:call", "eth_call", true],
    ["eth:call", "eth_callMany", false],
    ["eth_call", "eth_call", false],
    ["*", "eth_call", false],
    ["*:call", "eth_call", false],
    ["ETH:call", "eth_call", false],
    ["rpc:discover", "rpc.discover", true],
    ["rpc:*", "rpc.discover", true],
  ])("%s allows %s: %s", (permission, name, expected) => {
    expect(allowed(permission, name)).toBe(expected);
  });
});

it("methods without token are open under every name they have", () => {
  const open = new Set(["net_version", "txpool_nodeStatistics"]);
  const statistics = { name: "txpool_besuStatistics", aliases: ["txpool_nodeStatistics"] };
  for (const grant of [grantOpenMethods(open), grantPermissions(NONE, open)]) {
    expect(grant.allows({ name: "net_version" })).toBe(true);
    expect(grant.allows(statistics)).toBe(true);
    expect(grant.allows({ name: "eth_call" })).toBe(false);
  }
});
