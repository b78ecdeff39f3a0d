import { describe, expect, it } from "vitest";
import { createProxyRule, remoteHostOf } from "../../../src/rpc/server/remoteHost.ts";

describe("the remote host of an address", () => {
  it.each([
    ["127.0.0.1", "127.0.0.1"],
    ["::ffff:10.1.2.3", "10.1.2.3"],
    ["::1", "0:0:0:0"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
    ["2001:db8:1:2::9", "2001:db8:1:2"],
    ["2001:db8::7:0:0:1", "2001:db8:0:0"],
    ["fe80::", "fe80:0:0:0"],
    [undefined, "unknown"],
  ])("%s is %s", (address, remoteHost) => expect(remoteHostOf(address)).toBe(remoteHost));
});

describe("the address of a proxy", () => {
  it.each([
    ["10.1.2.3", "10.1.2.3"],
    ["::ffff:10.1.2.3", "10.1.2.3"],
    ["::FFFF:a01:203", "10.1.2.3"],
    ["2001:0DB8:0:0:0:0:0:1", "2001:db8::1"],
    ["0:0:0:0:0:0:0:1", "::1"],
    ["localhost", "127.0.0.5"],
  ])("%s is that of a connection from %s", (listed, remoteAddress) => {
    expect(createProxyRule([listed])(remoteAddress)).toBe(true);
    expect(createProxyRule([listed])("10.9.9.9")).toBe(false);
    expect(createProxyRule([listed])(undefined)).toBe(false);
  });
});
