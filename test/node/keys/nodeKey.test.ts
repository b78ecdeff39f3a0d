import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DEV_VALIDATOR_KEY } from "../../../src/config/devNetwork.ts";
import { openNodeKey } from "../../../src/node/keys/nodeKey.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { temporaryFolder } from "../../storage/temporaryFolder.ts";

describe("the node's key", () => {
  it("is written once, readable only by its owner, and stays the same", () => {
    const path = join(temporaryFolder(), "key");
    const first = openNodeKey({ path });
    expect(readFileSync(path, "utf8")).toMatch(/^0x[0-9a-f]{64}$/);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(first).toMatchObject({ value: { isExposed: false } });
    expect(first).toMatchObject({ value: { isNew: true } });
    const again = openNodeKey({ path, initialKey: DEV_VALIDATOR_KEY });
    expect(again).toEqual({ ...first, value: { ...(first.ok && first.value), isNew: false } });
    expect(first).not.toEqual(openNodeKey({ path: join(temporaryFolder(), "key") }));
  });

  it.each([
    ["with the prefix", toHex(DEV_VALIDATOR_KEY)],
    ["without it, and with a line end", `${toHex(DEV_VALIDATOR_KEY).slice(2)}\n`],
  ])("is read %s, as Besu writes it", (_, text) => {
    const path = join(temporaryFolder(), "key");
    writeFileSync(path, text);
    const key = openNodeKey({ path });
    expect(key.ok && toHex(key.value.privateKey)).toBe(toHex(DEV_VALIDATOR_KEY));
  });

  it.each(["", "0x1234", "00".repeat(32), "ff".repeat(32), "no key"])(
    "is refused when the file says %j",
    (text) => {
      const path = join(temporaryFolder(), "key");
      writeFileSync(path, text);
      const key = openNodeKey({ path });
      expect(key).toMatchObject({ ok: false, error: { code: "unusableNodeKey" } });
      expect(key.ok ? "" : key.error.message).toContain(path);
      expect(readFileSync(path, "utf8")).toBe(text);
    },
  );
});
