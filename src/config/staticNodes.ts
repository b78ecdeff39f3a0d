import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { readNamedFile } from "../primitives/boundedFile.ts";
import { type Diagnostics, report } from "./diagnostics.ts";
import { type Enode, isNamed, parseStaticNodes } from "./enode.ts";
import type { ResolvedOptions } from "./precedence.ts";

/**
 * Reads the static nodes (options.md#enodes-and-static-nodes). A file named by the option must exist; the one in the
 * data folder may be absent. Either must be valid.
 */
export function readStaticNodes(
  options: ResolvedOptions,
  workingDirectory: string,
): Diagnostics & { readonly nodes: readonly Enode[] } {
  const { values } = options;
  if (!values["p2p-enabled"]) return NO_NODES;
  const named = values["static-nodes-file"];
  const path = resolve(workingDirectory, named ?? join(values["data-path"], "static-nodes.json"));
  const problem = (text: string) => ({
    ...NO_NODES,
    problems: [report(options, text, "static-nodes-file")],
  });
  if (!existsSync(path)) {
    return named === undefined ? NO_NODES : problem(`Static nodes file ${path} does not exist`);
  }
  let text: string;
  try {
    text = readNamedFile(path, MOST_BYTES);
  } catch (error) {
    return problem(
      `Static nodes file ${path} cannot be read: ${error instanceof Error ? error.message : error}`,
    );
  }
  const nodes = parseStaticNodes(text);
  if (!nodes.ok) return problem(`Static nodes file ${path} cannot be used: ${nodes.error.message}`);
  if (nodes.value.some(isNamed) && !values["Xdns-enabled"]) {
    return problem(`Static nodes file ${path} cannot be used: host names in it need --Xdns-enabled`);
  }
  return { ...NO_NODES, nodes: nodes.value };
}

/** Tens of thousands of enode URLs. */
const MOST_BYTES = 16 * 1024 * 1024;

const NO_NODES = { problems: [], warnings: [], nodes: [] } as const;
