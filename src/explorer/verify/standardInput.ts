import { fail, ok, type Result } from "../../primitives/result.ts";
import { isObject } from "../../rpc/parameters/parameters.ts";
import { parseMessage } from "../../rpc/server/parseMessage.ts";
import { LONGEST_SOURCE_NAME, MOST_SOURCES } from "./verifyLimits.ts";

/** What is compiled: the sources with their texts, and those settings that shape code. */
export interface StandardInput {
  readonly language: "Solidity";
  readonly sources: Readonly<Record<string, { readonly content: string }>>;
  readonly settings: Readonly<Record<string, unknown>>;
}

/** Settings that shape code. Others are dropped: a model checker, for one, would search for proofs. */
const SETTINGS = ["remappings", "optimizer", "evmVersion", "viaIR", "metadata", "libraries", "debug"];
/** Most characters of the settings as JSON. */
const LONGEST_SETTINGS = 100_000;

/** Reads the standard JSON input of solc as tools send it. Sources are taken from it alone: no URL and no file is read. */
export function readStandardInput(text: string): Result<StandardInput, "badInput"> {
  const parsed = parseMessage(text);
  if (!isObject(parsed)) return bad("The source code is not a JSON object.");
  if (parsed["language"] !== "Solidity") return bad("Only Solidity is verified here.");
  const sources = readSources(parsed["sources"]);
  if (typeof sources === "string") return bad(sources);
  const given = isObject(parsed["settings"]) ? parsed["settings"] : {};
  const settings = Object.fromEntries(
    SETTINGS.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]] as const])),
  );
  if (JSON.stringify(settings).length > LONGEST_SETTINGS) return bad("The settings are too long.");
  return ok({ language: "Solidity", sources, settings });
}

function readSources(value: unknown): StandardInput["sources"] | string {
  if (!isObject(value)) return "The input has no sources.";
  const entries = Object.entries(value);
  if (entries.length === 0) return "The input has no sources.";
  if (entries.length > MOST_SOURCES) return `The input has more than ${MOST_SOURCES} sources.`;
  const sources: [string, { readonly content: string }][] = [];
  for (const [name, source] of entries) {
    if (name.length > LONGEST_SOURCE_NAME)
      return `A source has a name of more than ${LONGEST_SOURCE_NAME} characters.`;
    if (!isObject(source) || typeof source["content"] !== "string")
      return "A source has no content: URLs are not read.";
    sources.push([name, { content: source["content"] }]);
  }
  return Object.fromEntries(sources);
}

function bad(message: string): Result<never, "badInput"> {
  return fail("caller", "badInput", message);
}
