import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

/** One import, re-export or `import()` of a file. */
export interface Import {
  /** A file of the same tree by its path from there, or a package as it is written. */
  readonly target: string;
  readonly isFile: boolean;
  /** `type` is gone when the program runs; `dynamic` is loaded when the expression is evaluated. */
  readonly kind: "value" | "type" | "dynamic";
}

/** One TypeScript file of `src`. */
export interface SourceFile {
  /** From the root of the tree, with slashes. */
  readonly path: string;
  /** The first folder of the path, or the file itself where it lies in no folder. */
  readonly room: string;
  readonly text: string;
  readonly imports: readonly Import[];
}

/** Generated files: text and bytes, not code. */
const GENERATED = ["explorer/pageFiles.ts", "evm/coreModules.ts"];

/**
 * All TypeScript files below `root`, generated ones aside, with what they import. Imports are found by their text, which the
 * formatter keeps in one shape; a name inside of a comment or a string that looks like an import counts as one.
 */
export function readSourceFiles(root: string): readonly SourceFile[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((path) => !GENERATED.includes(path))
    .sort()
    .map((path) => {
      const text = readFileSync(join(root, path), "utf8");
      const [room = path] = path.split("/");
      return { path, room, text, imports: importsOf(root, path, text) };
    });
}

const STATEMENT = /^(?:import|export)\s+(?:(type)\s)?(?:[^"';()=]*?\sfrom\s+)?"([^"]+)"/gm;
const EXPRESSION = /(typeof\s+)?\bimport\(\s*"([^"]+)"\s*\)/g;

function importsOf(root: string, path: string, text: string): readonly Import[] {
  const found = (kind: Import["kind"], target: string): Import => {
    const isFile = target.startsWith(".");
    return { kind, isFile, target: isFile ? relative(root, resolve(root, dirname(path), target)) : target };
  };
  return [
    ...[...text.matchAll(STATEMENT)].map(([, type, target = ""]) =>
      found(type === undefined ? "value" : "type", target),
    ),
    ...[...text.matchAll(EXPRESSION)].map(([, type, target = ""]) =>
      found(type === undefined ? "dynamic" : "type", target),
    ),
  ];
}
