import { describe, expect, it } from "vitest";
import { OPTION_NAMES } from "../../src/config/options.ts";
import { DEVELOPMENT_METHODS, OWN_METHODS } from "../../src/rpc/knownMethods.ts";
import { describeWithSheet } from "../vectors.ts";
import { readDocument } from "./documents.ts";

const page = readDocument("docs/differences-from-besu.md");

describe("the differences from Besu", () => {
  it("name every method that Besu does not have", () => {
    expect(OWN_METHODS.length).toBeGreaterThan(5);
    expect(OWN_METHODS.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });

  it("name those of the development network on its page", () => {
    const development = readDocument("docs/development-network.md");
    expect(DEVELOPMENT_METHODS.length).toBeGreaterThan(5);
    expect(DEVELOPMENT_METHODS.filter((name) => !development.includes(`\`${name}\``))).toEqual([]);
  });
});

describeWithSheet("the differences from Besu's options", "operations.md", (sheet) => {
  it("name every option that Besu does not have", () => {
    const own = OPTION_NAMES.filter((name) => !sheet.includes(`--${name}`));
    expect(own.length).toBeGreaterThan(5);
    expect(own.filter((name) => !page.includes(`\`--${name}\``))).toEqual([]);
  });
});
