import { existsSync, readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { dirname, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** The files of `src` that the bundles in `dist` are made of, by their source maps. */
export class BundledSources {
  private readonly bundles = new Map<string, Bundle | undefined>();

  /** The file from which the code at this offset comes, by its path below `src`. Undefined where it comes from elsewhere. */
  fileAt(url: string, offset: number): string | undefined {
    if (!this.bundles.has(url)) this.bundles.set(url, readBundle(fileURLToPath(url)));
    const bundle = this.bundles.get(url);
    if (bundle === undefined) return undefined;
    const line = bundle.lineStarts.findLastIndex((start) => start <= offset);
    const entry = bundle.map.findEntry(line, offset - (bundle.lineStarts[line] ?? 0));
    if (!("originalSource" in entry)) return undefined;
    const path = relative(resolve("src"), resolve(dirname(bundle.path), entry.originalSource));
    return path.startsWith("..") ? undefined : path;
  }
}

interface Bundle {
  readonly path: string;
  readonly map: SourceMap;
  readonly lineStarts: readonly number[];
}

function readBundle(path: string): Bundle | undefined {
  if (!existsSync(`${path}.map`)) return undefined;
  const text = readFileSync(path, "utf8");
  const lineStarts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  return { path, lineStarts, map: new SourceMap(JSON.parse(readFileSync(`${path}.map`, "utf8"))) };
}
