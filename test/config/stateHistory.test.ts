import { describe, expect, it } from "vitest";
import { STORAGE_OPTIONS } from "../../src/config/options/storage.ts";

const { type, default: standard } = STORAGE_OPTIONS["state-history"];

describe("--state-history", () => {
  it("is all unless given, and takes 128 blocks or more", () => {
    expect(standard).toBe("all");
    expect(type.read("ALL")).toMatchObject({ ok: true, value: "all" });
    expect(type.read("128")).toMatchObject({ ok: true, value: 128n });
  });

  it("refuses fewer, and what is no number", () => {
    expect(type.read("127")).toMatchObject({
      ok: false,
      error: { message: "'127' is below 128: a rewind and late answers need that many states" },
    });
    expect(type.read("some")).toMatchObject({ ok: false });
  });
});
