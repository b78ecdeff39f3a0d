import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { anchorsIn, codeIn, FOLDERS, pathsNamedIn, proseIn, readDocuments, root } from "./documents.ts";

const documents = readDocuments();

/** Names of source files without their folders. */
const sourceFiles = new Set(
  ["src", "test", "scripts"]
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }))
    .map((path) => basename(path)),
);

function existsInRepository(path: string): boolean {
  const [first = path] = path.split("/");
  if (first === path && path.endsWith(".ts")) return sourceFiles.has(path);
  if (FOLDERS.includes(first)) return existsSync(join(root, path));
  return existsSync(join(root, "src", path)) || existsSync(join(root, "test", path));
}

describe("documents", () => {
  it("name in code only paths that exist", () => {
    const missing = documents.flatMap(({ path, text }) =>
      codeIn(text)
        .flatMap(pathsNamedIn)
        .filter((named) => !existsInRepository(named))
        .map((named) => `${path}: ${named}`),
    );
    expect(missing).toEqual([]);
  });

  it("link only to files and headings that exist", () => {
    const broken = documents.flatMap(({ path, text }) =>
      [...proseIn(text).matchAll(/\]\(([^)\s]+)\)/g)]
        .map(([, target = ""]) => target)
        .filter((target) => !/^[a-z]+:/.test(target) && !leadsSomewhere(path, target))
        .map((target) => `${path}: ${target}`),
    );
    expect(broken).toEqual([]);
  });
});

function leadsSomewhere(from: string, target: string): boolean {
  const [file = "", anchor] = target.split("#");
  const path = join(root, file === "" ? from : join(dirname(from), file));
  return existsSync(path) && (anchor === undefined || anchorsIn(readFileSync(path, "utf8")).has(anchor));
}

describe("a path in code", () => {
  it("is found with a line number, in a command, and up to a placeholder", () => {
    expect(pathsNamedIn("src/ibft/stateMachine.ts:12")).toEqual(["src/ibft/stateMachine.ts"]);
    expect(pathsNamedIn("npx vitest run test/docs/")).toEqual(["test/docs"]);
    expect(pathsNamedIn("src/rpc/methods/<group>/x.ts")).toEqual(["src/rpc/methods"]);
    expect(pathsNamedIn("src/rpc/method<s>")).toEqual(["src/rpc"]);
    expect(pathsNamedIn("ibft/stateMachine.ts")).toEqual(["ibft/stateMachine.ts"]);
  });

  it("is none outside of the repository", () => {
    expect(pathsNamedIn("/opt/ibex/src/x")).toEqual([]);
    expect(pathsNamedIn("dist/main.js --config-file=node.toml")).toEqual([]);
  });
});
