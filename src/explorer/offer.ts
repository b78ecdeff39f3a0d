import { lengthOfPieces } from "../primitives/jsonPieces.ts";
import { toQuantity } from "../primitives/quantity.ts";
import { decodeParams } from "../rpc/decodeParams.ts";
import { ERRORS, RpcError } from "../rpc/errors/errors.ts";
import { type Answer, type CallContext, JsonPieces, RawJson, type RpcMethod } from "../rpc/method.ts";
import { isObject } from "../rpc/parameters/parameters.ts";
import type { RpcBackend } from "../rpc/ports.ts";
import type { Budget } from "./budget.ts";
import { CALL_GAS, TRACE_BYTES } from "./limits.ts";

/** The cost of a method for a visitor, and its restrictions. */
interface Offer {
  /** Cost in units of a plain read. */
  readonly cost: number;
  /** Returns the parameters to run with; undefined for parameters that are not offered. Unchanged when absent. */
  readonly admit?: (params: readonly unknown[]) => readonly unknown[] | undefined;
  /** Returns the answer to send instead of the node's. Unchanged when absent. */
  readonly bound?: (answer: Answer) => Answer;
}

/** A plain read of a value. */
const READ: Offer = { cost: 1 };
/** A call with up to CALL_GAS, or a list of plain reads. */
const CALL: Offer = { cost: 5 };
/**
 * A search in many blocks or in the whole pool, or balances from up to 200 contracts, which may use twice the gas of a call.
 */
const SEARCH: Offer = { cost: 10 };
const TRACE: Offer = { cost: 25 };

/**
 * Tracers whose answers grow with the calls and the accounts of a transaction, and with the bytes that it passes to each
 * call. Tracers of each instruction take a thousand times as many bytes. A bound applies to both (TRACE_BYTES).
 */
const OFFERED_TRACERS: ReadonlySet<unknown> = new Set(["callTracer", "prestateTracer"]);

/**
 * The fixed list of methods that the explorer's port answers, whatever groups the other ports offer. All of them only read.
 * Raw transactions are not accepted: a visitor's wallet sends what it signs through the node that it knows.
 */
const OFFERED: ReadonlyMap<string, Offer> = new Map<string, Offer>([
  ...each(READ, [
    "eth_blockNumber",
    "eth_chainId",
    "eth_gasPrice",
    "eth_getBalance",
    "eth_getBlockByHash",
    "eth_getBlockByNumber",
    "eth_getBlockTransactionCountByHash",
    "eth_getBlockTransactionCountByNumber",
    "eth_getCode",
    "eth_getStorageAt",
    "eth_getTransactionByBlockHashAndIndex",
    "eth_getTransactionByBlockNumberAndIndex",
    "eth_getTransactionByHash",
    "eth_getTransactionCount",
    "eth_getTransactionReceipt",
    "eth_maxPriorityFeePerGas",
    "eth_syncing",
    "eth_unsubscribe",
    "explorer_getIndexStatus",
    "explorer_getNodeStatus",
    "ibft_getValidatorsByBlockHash",
    "ibft_getValidatorsByBlockNumber",
    "ibft_status",
    "net_listening",
    "net_peerCount",
    "net_version",
    "rpc_modules",
    "txpool_status",
    "web3_clientVersion",
    "web3_sha3",
  ]),
  ...each(CALL, [
    "eth_feeHistory",
    "eth_getBlockReceipts",
    "ibft_getRounds",
    "explorer_getArrivals",
    "explorer_getDays",
    "explorer_getToken",
    "explorer_getTokenTransfers",
    "explorer_getTransactionsOf",
    "explorer_getTransfersOfToken",
    "ots_getContractCreator",
  ]),
  ...each(SEARCH, [
    "eth_getLogs",
    "explorer_getLogsOf",
    "explorer_getPool",
    "explorer_getTokens",
    "explorer_getTokenHolders",
    "explorer_getTokensOf",
  ]),
  ...each({ ...CALL, admit: withGasLimit }, ["eth_call", "eth_estimateGas"]),
  ["eth_subscribe", { ...CALL, admit: (params) => (params[0] === "newHeads" ? params : undefined) }],
  ["debug_traceTransaction", { ...TRACE, admit: withShortTracer, bound: withinTraceBytes }],
]);

/** Bounds the gas of a simulated call, even when it names none. */
function withGasLimit(params: readonly unknown[]): readonly unknown[] {
  const [call, ...others] = params;
  if (!isObject(call)) return params;
  const { gas } = call;
  const isWithin = typeof gas === "string" && /^0x[0-9a-f]{1,16}$/i.test(gas) && BigInt(gas) <= CALL_GAS;
  return isWithin ? params : [{ ...call, gas: toQuantity(CALL_GAS) }, ...others];
}

function withShortTracer(params: readonly unknown[]): readonly unknown[] | undefined {
  const [, options] = params;
  return isObject(options) && OFFERED_TRACERS.has(options["tracer"]) ? params : undefined;
}

/** Refuses a longer answer, for which the reader would be disconnected, and the page would request it again. */
function withinTraceBytes(answer: Answer): Answer {
  const pieces =
    answer instanceof JsonPieces ? answer.pieces : answer instanceof RawJson ? [answer.text] : undefined;
  return pieces !== undefined && lengthOfPieces(pieces) > TRACE_BYTES ? TRACE_TOO_LONG : answer;
}

function each(offer: Offer, names: readonly string[]): (readonly [string, Offer])[] {
  return names.map((name) => [name, offer]);
}

/** The methods that visitors may call within their budget. */
export function offeredMethods(
  methods: readonly RpcMethod[],
  budget: Pick<Budget, "spend">,
): readonly RpcMethod[] {
  return methods.flatMap((method) => {
    const offer = OFFERED.get(method.name);
    return offer === undefined ? [] : [withinBudget(method, offer, budget)];
  });
}

function withinBudget(
  method: RpcMethod,
  { cost, admit = (params) => params, bound }: Offer,
  budget: Pick<Budget, "spend">,
): RpcMethod {
  const run = method.runUndecoded ?? ((params, context) => runDecoded(method, params, context));
  return {
    ...method,
    runUndecoded(params, context) {
      const admitted = admit(params);
      if (admitted === undefined) return NOT_OFFERED;
      if (!budget.spend(context.remoteHost, cost)) return OVER_BUDGET;
      const answer = run(admitted, context);
      if (bound === undefined) return answer;
      return answer instanceof Promise ? answer.then(bound) : bound(answer);
    },
  };
}

const NOT_OFFERED = new RpcError(ERRORS.methodNotEnabled.code, "The explorer does not offer this");
const OVER_BUDGET = new RpcError(
  ERRORS.tooManyCalls.code,
  "Too many requests to the explorer. Try again later.",
);
const TRACE_TOO_LONG = new RpcError(
  ERRORS.rangeTooLarge.code,
  `The trace is longer than the ${TRACE_BYTES / 1024 / 1024} MB that the explorer answers. Ask another port of the node for it.`,
);

function runDecoded(
  method: RpcMethod,
  params: readonly unknown[],
  context: CallContext<RpcBackend>,
): Answer | Promise<Answer> {
  const values = decodeParams(method, params);
  return values instanceof RpcError ? values : method.run(values, context);
}
