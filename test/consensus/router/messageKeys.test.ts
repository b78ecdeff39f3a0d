import { expect, it } from "vitest";
import { keyOfMessage } from "../../../src/consensus/router/seenMessages.ts";

it.each([100, 4_095, 4_096, 3_000_000])(
  "messages of %i bytes have keys by their code and all bytes",
  (length) => {
    const payload = new Uint8Array(length);
    const changed = payload.slice();
    changed[length - 1] = 1;
    const keys = [keyOfMessage(0, payload), keyOfMessage(1, payload), keyOfMessage(0, changed)];
    expect(new Set(keys).size).toBe(3);
    expect(new Set(keys.map((key) => key.length)).size).toBe(1);
    expect(keyOfMessage(0, payload.slice())).toBe(keys[0]);
  },
);
