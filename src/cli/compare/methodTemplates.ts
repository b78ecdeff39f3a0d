import { fail, ok, type Result } from "../../primitives/result.ts";
import { COMPARE_LIMITS } from "./limits.ts";

/** A request with placeholders, sent for each block, or for each of its transactions or accounts. */
export interface MethodTemplate {
  readonly method: string;
  readonly params: readonly unknown[];
  readonly each: Scope;
}

type Scope = "block" | "transaction" | "account";

/** Placeholders for values, each with the scope of its value. */
const PLACEHOLDERS: Readonly<Record<string, Scope>> = {
  "{number}": "block",
  "{hash}": "block",
  "{parent}": "block",
  "{parentHash}": "block",
  "{transaction}": "transaction",
  "{index}": "transaction",
  "{call}": "transaction",
  "{address}": "account",
};

/**
 * Default requests, unless a file names others. Blocks with their transactions, and all receipts, are always compared. Calls
 * are the block's transactions, run again on the state before it.
 */
export const DEFAULT_METHODS: readonly MethodTemplate[] = [
  { method: "eth_getBlockReceipts", params: ["{number}"], each: "block" },
  { method: "eth_getLogs", params: [{ fromBlock: "{number}", toBlock: "{number}" }], each: "block" },
  { method: "eth_getTransactionByHash", params: ["{transaction}"], each: "transaction" },
  { method: "eth_call", params: ["{call}", "{parent}"], each: "transaction" },
  { method: "eth_getBalance", params: ["{address}", "{number}"], each: "account" },
  { method: "eth_getTransactionCount", params: ["{address}", "{number}"], each: "account" },
  { method: "eth_getCode", params: ["{address}", "{number}"], each: "account" },
  { method: "eth_getStorageAt", params: ["{address}", "0x0", "{number}"], each: "account" },
  { method: "ibft_getValidatorsByBlockNumber", params: ["{number}"], each: "block" },
  { method: "trace_block", params: ["{number}"], each: "block" },
  {
    method: "debug_traceBlockByNumber",
    params: ["{number}", { disableStorage: true, disableMemory: true, disableStack: true }],
    each: "block",
  },
];

/** Methods that may change a node, or whose answers are specific to it: two nodes cannot be compared by them. */
const MAY_CHANGE_A_NODE =
  /^(admin|clique|engine|miner|perm|personal|plugins|priv|qbft)_|^eth_(send|submit|new|uninstall|subscribe|unsubscribe|getFilter)|_(add|change|discard|propose|remove|replay(Block$)|resync|set|standardTrace)/;

/** Reads a JSON list of {"method", "params"}; the error names the entry. */
export function readMethodTemplates(text: string): Result<readonly MethodTemplate[], "badMethods"> {
  if (Buffer.byteLength(text) > COMPARE_LIMITS.methodsFileBytes)
    return fail("caller", "badMethods", `it has more than ${COMPARE_LIMITS.methodsFileBytes} bytes`);
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    return fail("caller", "badMethods", "it is not JSON");
  }
  if (!Array.isArray(list)) return fail("caller", "badMethods", "it is not a list");
  if (list.length === 0 || list.length > COMPARE_LIMITS.methods)
    return fail("caller", "badMethods", `it does not have 1 to ${COMPARE_LIMITS.methods} entries`);
  const templates: MethodTemplate[] = [];
  for (const [index, entry] of list.entries()) {
    const template = readTemplate(entry);
    if (typeof template === "string") return fail("caller", "badMethods", `entry ${index + 1}: ${template}`);
    templates.push(template);
  }
  return ok(templates);
}

/** A template, or what is wrong with it. */
function readTemplate(entry: unknown): MethodTemplate | string {
  const { method, params = [] } = Object(entry) as { readonly method?: unknown; readonly params?: unknown };
  if (typeof method !== "string" || !/^\w+$/.test(method)) return "it has no method";
  if (MAY_CHANGE_A_NODE.test(method)) return `${method} may change a node, or is specific to one node`;
  if (!Array.isArray(params)) return "its params are not a list";
  const placeholders = [...textsIn(params)].filter((text) => /^\{\w*\}$/.test(text));
  const unknown = placeholders.find((text) => PLACEHOLDERS[text] === undefined);
  if (unknown !== undefined)
    return `${unknown} is not one of the placeholders ${Object.keys(PLACEHOLDERS).join(", ")}`;
  const scopes = new Set(placeholders.map((text) => PLACEHOLDERS[text]).filter((scope) => scope !== "block"));
  if (scopes.size > 1) return "it names an account and a transaction; only one of them is possible";
  const [each = "block"] = scopes;
  return { method, params, each };
}

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (typeof value === "object" && value !== null)
    for (const member of Object.values(value)) yield* textsIn(member);
}

/** The parameters with each placeholder replaced by its value. */
export function fillIn(params: unknown, values: Readonly<Record<string, unknown>>): unknown {
  if (typeof params === "string") return Object.hasOwn(values, params) ? values[params] : params;
  if (Array.isArray(params)) return params.map((each) => fillIn(each, values));
  if (typeof params !== "object" || params === null) return params;
  return Object.fromEntries(Object.entries(params).map(([name, each]) => [name, fillIn(each, values)]));
}
