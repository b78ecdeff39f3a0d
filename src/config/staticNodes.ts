import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { isNamed, parseStaticNodes } from "./enode.ts";
import { type Findings, tell } from "./findings.ts";
import { NO_PEERS } from "./options/peerToPeer.ts";
import type { ResolvedOptions } from "./precedence.ts";

/**
 * Judges the file of peers to stay connected with (operations.md §6.3): one that is named must exist, that of the data
 * folder need not, and either must make sense.
 */
export function checkStaticNodes(options: ResolvedOptions, workingDirectory: string): Findings {
  const { values } = options;
  if (!values["p2p-enabled"]) return { problems: [], warnings: [] };
  const named = values["static-nodes-file"];
  const path = resolve(workingDirectory, named ?? join(values["data-path"], "static-nodes.json"));
  const problem = (text: string): Findings => ({
    problems: [tell(options, text, "static-nodes-file")],
    warnings: [],
  });
  if (!existsSync(path)) {
    return named === undefined
      ? { problems: [], warnings: [] }
      : problem(`Static nodes file ${path} does not exist`);
  }
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    return problem(
      `Static nodes file ${path} cannot be read: ${error instanceof Error ? error.message : error}`,
    );
  }
  const nodes = parseStaticNodes(text);
  if (!nodes.ok) return problem(`Static nodes file ${path} cannot be used: ${nodes.rejection.message}`);
  if (nodes.value.some(isNamed) && !values["Xdns-enabled"]) {
    return problem(`Static nodes file ${path} cannot be used: host names in it need --Xdns-enabled`);
  }
  // A file that was named is warned of as its option is.
  const isPassedOver = named === undefined && nodes.value.length > 0;
  return {
    problems: [],
    warnings: isPassedOver ? [`The static nodes of ${path} are not called: ${NO_PEERS}.`] : [],
  };
}
