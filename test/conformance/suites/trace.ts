import { readdirSync } from "node:fs";
import { silentLogger } from "../../../src/observability/logger.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { createDispatcher } from "../../../src/rpc/dispatcher.ts";
import { METHODS } from "../../../src/rpc/methods/registry.ts";
import { aCaller } from "../../builders/aCaller.ts";
import { anRpcBackend } from "../../builders/anRpcBackend.ts";
import { tracerOf } from "../../builders/tracerOf.ts";
import { withoutProblems } from "../../rpc/problems.ts";
import { readVectorJson, vectorPath } from "../../vectors.ts";
import { readForeignChain } from "../chains/foreignReader.ts";
import type { Failure, Suite } from "../suite.ts";
import { firstDifference } from "./difference.ts";

/** Besu's fixtures of the TRACE group and of the debug tracing methods, on their chains. */
export const TRACE: Suite = {
  name: "trace",
  total: 589,
  every: 40,
  cases: () =>
    FOLDERS.flatMap(([folder, chain]) =>
      readdirSync(vectorPath(ROOT, folder), { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(".json"))
        .sort()
        .map((file) => ({ id: `${folder}/${file}`, run: () => checkFixture(`${folder}/${file}`, chain) })),
    ),
};

const ROOT = "besu-jsonrpc/jsonrpc";
const FOLDERS = [
  ["trace/specs", "trace"],
  ["debug/trace-call", "trace"],
  ["debug/trace-transaction", "hive"],
] as const;

interface Fixture {
  readonly request: object | readonly object[];
  readonly response: object | readonly object[];
}

async function checkFixture(path: string, chain: string): Promise<Failure | undefined> {
  const { request, response } = readVectorJson<Fixture>(ROOT, path);
  const ask = await requester(chain);
  const loose = looseMembers(path);
  const answer = JSON.parse(withoutProblems(JSON.stringify(await ask(request)))) as unknown;
  return firstDifference(without(loose, answer), without(loose, response), "response");
}

type Ask = (request: Fixture["request"]) => Promise<unknown>;

function requester(chain: string): Promise<Ask> {
  let known = requesters.get(chain);
  if (known === undefined) {
    known = openRequester(chain);
    requesters.set(chain, known);
  }
  return known;
}

/** Requesters by chain, which is imported once for all its fixtures. */
const requesters = new Map<string, Promise<Ask>>();

async function openRequester(name: string): Promise<Ask> {
  const { chain, spec } = await readForeignChain(name);
  const dispatcher = createDispatcher(
    { methods: METHODS, modules: new Set(["DEBUG", "TRACE"] as const) },
    { backend: anRpcBackend({ chain, spec, tracer: tracerOf(chain, spec) }), logger: silentLogger },
  );
  return async (request) => {
    const text = JSON.stringify(request);
    if (!isBatch(request))
      return JSON.parse(
        expectDefined(await dispatcher.answerRequest(request, text, aCaller), "a reply").text,
      );
    let written = "";
    const rest = await dispatcher.answerBatch(request, text, aCaller, (piece) => {
      written += piece;
    });
    return JSON.parse(written + rest);
  };
}

function isBatch(request: Fixture["request"]): request is readonly object[] {
  return Array.isArray(request);
}

/** Members that Besu's own test ignores in trace_callMany, because the expected values come from another client. */
function looseMembers(path: string): ReadonlySet<string> {
  if (!path.includes("trace-callMany")) return NO_MEMBERS;
  if (path.endsWith("_trace.json")) return new Set(["gasUsed"]);
  return path.endsWith("_vmTrace.json") ? new Set(["cost", "used"]) : new Set(["balance"]);
}

const NO_MEMBERS: ReadonlySet<string> = new Set();

function without(names: ReadonlySet<string>, value: unknown): unknown {
  if (names.size === 0 || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => without(names, item));
  const members = Object.entries(value).filter(([name]) => !names.has(name));
  return Object.fromEntries(members.map(([name, member]) => [name, without(names, member)]));
}
