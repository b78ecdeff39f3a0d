import { describe, expect, it } from "vitest";
import { LargeResults } from "../../src/logs/largeResults.ts";

/** Searches by their names, and which of them have begun or were let go. */
function someSearches() {
  const large = new LargeResults<string>();
  const goneOn: string[] = [];
  return {
    large,
    begin: (...names: readonly string[]): void => {
      for (const name of names) Promise.resolve(large.begin(name)).then(() => goneOn.push(name));
    },
    goneOn: async (): Promise<string> => {
      await new Promise((resolve) => setImmediate(resolve));
      return goneOn.join(" ");
    },
  };
}

describe("searches with large results", () => {
  it("go on one at a time, in the order in which they came", async () => {
    const { large, begin, goneOn } = someSearches();
    begin("a", "b", "c");
    expect(await goneOn()).toBe("a");
    begin("a");
    expect(await goneOn()).toBe("a a");
    large.end("a");
    expect(await goneOn()).toBe("a a b");
    large.end("b");
    large.end("c");
    begin("d");
    expect(await goneOn()).toBe("a a b c d");
  });

  it("wait no longer once nobody wants them, and keep no other back", async () => {
    const { large, begin, goneOn } = someSearches();
    begin("a", "b", "c");
    large.giveUp("b");
    expect(await goneOn()).toBe("a b");
    large.end("b");
    expect(await goneOn()).toBe("a b");
    large.giveUp("a");
    large.end("a");
    expect(await goneOn()).toBe("a b c");
  });
});
