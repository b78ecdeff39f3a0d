import { describe, expect, it } from "vitest";
import { visitorHost } from "../../src/explorer/visitorHost.ts";
import { createProxyRule } from "../../src/rpc/server/remoteHost.ts";

const isProxy = createProxyRule(["localhost", "10.0.0.1"]);

const hostOf = (remoteAddress: string | undefined, forwarded?: string): string =>
  visitorHost({ socket: { remoteAddress }, headers: { "x-forwarded-for": forwarded } }, isProxy);

describe("the remote host of a visitor", () => {
  it("is that of the connection, whatever a visitor says", () => {
    expect(hostOf("203.0.113.7")).toBe("203.0.113.7");
    expect(hostOf("203.0.113.7", "198.51.100.1")).toBe("203.0.113.7");
    expect(hostOf("2001:db8:1:2:3:4:5:6", "198.51.100.1")).toBe("2001:db8:1");
    expect(hostOf(undefined, "198.51.100.1")).toBe("unknown");
  });

  it("is behind a known proxy the newest address that is no such proxy", () => {
    expect(hostOf("127.0.0.1", "198.51.100.1")).toBe("198.51.100.1");
    expect(hostOf("::ffff:10.0.0.1", "6.6.6.6, 198.51.100.1")).toBe("198.51.100.1");
    expect(hostOf("127.0.0.1", "6.6.6.6, 198.51.100.1, 10.0.0.1")).toBe("198.51.100.1");
    expect(hostOf("127.0.0.1", "::ffff:198.51.100.1")).toBe("198.51.100.1");
    expect(hostOf("127.0.0.1", "2001:db8:1:2:9::1")).toBe("2001:db8:1");
  });

  it("is the same in all networks of one IPv6 site, and another one in another site", () => {
    expect(hostOf("2001:db8:1:3::1")).toBe(hostOf("2001:db8:1:2::1"));
    expect(hostOf("127.0.0.1", "2001:db8:1:ffff::1")).toBe(hostOf("2001:db8:1::1"));
    expect(hostOf("2001:db8:2:2::1")).not.toBe(hostOf("2001:db8:1:2::1"));
  });

  it("is the proxy where it names nobody", () => {
    for (const forwarded of [undefined, "", "unknown", "6.6.6.6, nonsense", "10.0.0.1, 127.0.0.1"])
      expect(hostOf("127.0.0.1", forwarded)).toBe("127.0.0.1");
  });
});
