import { describe, expect, it } from "vitest";
import { CRYO_TABLES } from "../../src/cli/data/tables/cryo.ts";
import { ETHEREUM_ETL_TABLES } from "../../src/cli/data/tables/ethereumEtl.ts";
import { readDocument } from "./documents.ts";

const [, cryo = "", ethereumEtl = ""] = readDocument("docs/data-export.md").split(
  /\n### (?:cryo|ethereum-etl)\n/,
);

const WORDS: Readonly<Record<string, string>> = {
  uint256: "digits",
  uint256Bytes: "32 bytes",
  float64: "double",
};

describe("the page of exports", () => {
  it.each([
    { schema: "cryo", text: cryo, tables: CRYO_TABLES },
    { schema: "ethereum-etl", text: ethereumEtl, tables: ETHEREUM_ETL_TABLES },
  ])("lists each table and column of $schema", ({ text, tables }) => {
    const listed = [...text.matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].map(([, name, columns]) => ({
      name,
      columns,
    }));
    expect(listed).toEqual(
      tables.map((table) => {
        const usual = new Set(table.choose("default").columns.map(({ name }) => name));
        const columns = table.choose("all").columns.map(({ name, kind }) => {
          const shown = `\`${name}\` ${WORDS[kind] ?? kind}`;
          return usual.has(name) ? shown : `*${shown}*`;
        });
        return { name: table.name, columns: columns.join(", ") };
      }),
    );
  });
});
