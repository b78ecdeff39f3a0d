import { describe, expect, it } from "vitest";
import { smallFrame } from "../../../src/rpc/server/wholeFrame.ts";

describe("a small frame", () => {
  it.each([0, 121, 122, 4000, 65_531])(
    "is one final text frame of its parts (RFC 6455 §5.2), with %i bytes in the middle",
    (length) => {
      const frame = smallFrame("{{", Buffer.alloc(length, "x"), "}}");
      const isShort = length + 4 < 126;
      expect(frame[0]).toBe(0x81);
      expect(isShort ? frame[1] : frame.readUInt16BE(2)).toBe(length + 4);
      expect(isShort || frame[1] === 126).toBe(true);
      expect(frame.toString("utf8", isShort ? 2 : 4)).toBe(`{{${"x".repeat(length)}}}`);
    },
  );
});
