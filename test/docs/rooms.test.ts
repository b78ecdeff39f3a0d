import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readDocument, root } from "./documents.ts";

const rooms = readdirSync(join(root, "src"), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

/** The text between a heading and the next one of its level. */
function sectionOf(page: string, heading: string): string {
  const [, section = ""] = readDocument(page).split(`\n## ${heading}\n`);
  const [own = ""] = section.split("\n## ");
  return own;
}

/** The first cells of the rows of a table that begins with this line. */
function firstCells(section: string, head: string): string {
  const [, table = ""] = section.split(`${head}\n`);
  const [rows = ""] = table.split("\n\n");
  return rows.replaceAll(/^\| ([^|]*) \|.*$/gm, "$1");
}

describe("the folders of src", () => {
  it("are all in the layers of docs/architecture.md, and in the table of what each owns", () => {
    const layers = sectionOf("docs/architecture.md", "Layers");
    const owners = firstCells(layers, "| room | what it owns |");
    expect(rooms.filter((room) => !layers.includes(`\`${room}\``))).toEqual([]);
    expect(rooms.filter((room) => !new RegExp(`\\b${room}\\b`).test(owners))).toEqual([]);
  });

  it("are all in the map for contributors", () => {
    const map = sectionOf("CONTRIBUTING.md", "Where things are");
    expect(rooms.filter((room) => !map.includes(`\`src/${room}\``))).toEqual([]);
  });
});
