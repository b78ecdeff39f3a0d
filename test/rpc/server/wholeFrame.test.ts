import { describe, expect, it } from "vitest";
import { smallFrame, textFrame } from "../../../src/rpc/server/wholeFrame.ts";

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

describe("a frame of a text", () => {
  it.each([
    "",
    "x".repeat(125),
    "x".repeat(126),
    "x".repeat(4000),
    "é",
    "Łódź".repeat(31),
    "😀".repeat(1000),
  ])("is final and has its length in bytes (RFC 6455 §5.2): case %#", (text) => {
    const bytes = Buffer.from(text);
    const frame = textFrame(text);
    const isShort = bytes.length < 126;
    expect(frame[0]).toBe(0x81);
    expect(isShort ? frame[1] : frame.readUInt16BE(2)).toBe(bytes.length);
    expect(isShort || frame[1] === 126).toBe(true);
    expect(frame.subarray(isShort ? 2 : 4)).toEqual(bytes);
  });
});
