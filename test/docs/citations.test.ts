import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { anchorsIn, readDocument, root } from "./documents.ts";

/** Where a document that a comment cites by its name may lie. */
const DOCUMENT_FOLDERS = ["docs/protocol", "docs", "."];

/** As comments cite a section: the name of its document, and the anchor of its heading. */
const CITATION = /(?<![\w/-])([A-Za-z0-9_-]+\.md)#([\w-]*)/g;

/** A document without a section. Names in quotes are data, and names with a folder belong to other files. */
const BARE_NAME = /(?<![\w"'`./-])[A-Za-z0-9_-]+\.md(?![#\w])/g;

/** A section by its number. Public documents are cited so; ours have headings. */
const NUMBERED_SECTION = /(?<!yellow paper,? )(?<!RFC \d+ )§ ?\d+(?:\.\d+)*/g;

describe("citations in comments", () => {
  it("lead to a heading of a document in docs", () => {
    expect(findInSources(brokenCitations)).toEqual([]);
  });

  it("name the section, not the document alone", () => {
    expect(findInSources((line) => matchesOf(line, BARE_NAME))).toEqual([]);
  });

  it("name sections by their headings, not by numbers", () => {
    expect(findInSources((line) => matchesOf(line, NUMBERED_SECTION))).toEqual([]);
  });
});

describe("a citation", () => {
  it("is broken when the document or the heading does not exist", () => {
    expect(brokenCitations("(ibft2.md#quorum)")).toEqual([]);
    expect(brokenCitations("(ibft2.md#quorun)")).toEqual(["ibft2.md#quorun"]);
    expect(brokenCitations("(ibft2.md#)")).toEqual(["ibft2.md#"]);
    expect(brokenCitations("(ibft3.md#quorum)")).toEqual(["ibft3.md#quorum"]);
  });

  it("is incomplete without a section, unless the name is data or a path", () => {
    expect(matchesOf("(ibft2.md, quorum)", BARE_NAME)).toEqual(["ibft2.md"]);
    expect(matchesOf('read("ibft2.md"), doc/ibft2.md, ibft2.md#quorum', BARE_NAME)).toEqual([]);
  });

  it("has a number for a section of public documents only", () => {
    expect(matchesOf("(§8), json §1.2", NUMBERED_SECTION)).toEqual(["§8", "§1.2"]);
    expect(matchesOf("yellow paper §4.3, yellow paper, §7, RFC 7693 §3.2", NUMBERED_SECTION)).toEqual([]);
  });
});

function brokenCitations(line: string): readonly string[] {
  return [...line.matchAll(CITATION)]
    .filter(([, name = "", anchor = ""]) => !anchorsOf(name).has(anchor))
    .map(([citation]) => citation);
}

const knownAnchors = new Map<string, ReadonlySet<string>>();

/** The anchors of a document, which may not exist. */
function anchorsOf(name: string): ReadonlySet<string> {
  let anchors = knownAnchors.get(name);
  if (anchors === undefined) {
    const path = DOCUMENT_FOLDERS.map((folder) => join(folder, name)).find((each) =>
      existsSync(join(root, each)),
    );
    anchors = path === undefined ? new Set() : anchorsIn(readDocument(path));
    knownAnchors.set(name, anchors);
  }
  return anchors;
}

function matchesOf(text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].map(([match]) => match);
}

/** What `find` finds in the lines of sources, scripts and tests, each with its place. */
function findInSources(find: (line: string) => readonly string[]): readonly string[] {
  return sources().flatMap((path) =>
    readFileSync(path, "utf8")
      .split("\n")
      .flatMap((line, index) => find(line).map((what) => `${relative(root, path)}:${index + 1}: ${what}`)),
  );
}

/** This file is left out: it quotes broken citations. */
function sources(): readonly string[] {
  return ["src", "scripts", "test"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(ts|mjs)$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => path !== fileURLToPath(import.meta.url)),
  );
}
