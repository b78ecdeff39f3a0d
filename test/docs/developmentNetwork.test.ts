import { expect, it } from "vitest";
import { RULINGS } from "../cluster/development/methods/rulings.ts";
import { readDocument } from "./documents.ts";

it("the page of the development network has a row for each difference from anvil and Hardhat that is meant", () => {
  const page = readDocument("docs/development-network.md");
  const section = page.split("\n## ").find((each) => each.startsWith("Where it differs")) ?? "";
  const rows = [...section.matchAll(/^\| ([^|]+) \|/gm)].map(([, first = ""]) => first);
  expect(rows).toEqual(["what", ...RULINGS.map(({ what }) => what)]);
});
