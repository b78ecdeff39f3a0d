import type {
  AccountOverride,
  BlockOverride,
  CallRequest,
  SimulationResult,
} from "../../../execution/simulation/callRequest.ts";
import { toQuantity } from "../../../primitives/quantity.ts";
import { RpcError } from "../../errors/errors.ts";
import { callError, estimateError } from "../../errors/simulationErrors.ts";
import { withHaltData } from "../../errors/toolErrors.ts";
import { type ContextOf, defineMethod, optional, required } from "../../method.ts";
import { decodeNumberTagOrHash, findHeader } from "../../parameters/blockParameter.ts";
import { decodeCall } from "../../parameters/callParameter.ts";
import { decodePartialTransaction } from "../../parameters/fillParameter.ts";
import { BLOCK_OVERRIDES, overridesOf, STATE_OVERRIDES } from "../../parameters/overrideParameters.ts";
import { accessListAnswer } from "../../results/accessListAnswer.ts";
import { dataAnswer } from "../../results/dataAnswer.ts";
import { CALL, DATA, NUMBER_TAG_OR_HASH, OBJECT, QUANTITY } from "../../schemas.ts";
import { filledAnswer } from "../../signing/filledAnswer.ts";
import { nextBlock } from "../../signing/nextBlock.ts";

/*
 * Calls on a development network (development-network.md#calls-and-errors). The pending block is the one that would be made now, whose time
 * callers may have set; estimates are of it unless another block is named.
 */

const CALL_METHOD = {
  namespace: "HARDHAT",
  alsoIn: ["ANVIL"],
  takesPlace: true,
  parameters: [
    required("call", decodeCall, CALL),
    optional("block", decodeNumberTagOrHash, NUMBER_TAG_OR_HASH),
    STATE_OVERRIDES,
    BLOCK_OVERRIDES,
  ],
  ports: ["chain", "newestHead", "simulator", "development"],
  mayOverlap: "few",
} as const;

export const devCall = defineMethod({
  ...CALL_METHOD,
  name: "eth_call",
  summary: "Runs a call on the state after a block, or as of the next one, without changing anything.",
  result: { name: "output", schema: DATA },
  async run([call, choice = "latest", accounts, block], context) {
    const result = await simulated("call", { call, choice, accounts, block }, context);
    return result instanceof RpcError ? result : dataAnswer(result.data);
  },
});

export const devEstimateGas = defineMethod({
  ...CALL_METHOD,
  name: "eth_estimateGas",
  summary: "Gas limit with which a transaction would succeed in the next block, or as of another one.",
  result: { name: "gas", schema: QUANTITY },
  async run([call, choice = "pending", accounts, block], context) {
    const result = await simulated("estimateGas", { call, choice, accounts, block }, context);
    return result instanceof RpcError ? result : toQuantity(result.gas);
  },
});

export const devCreateAccessList = defineMethod({
  ...CALL_METHOD,
  name: "eth_createAccessList",
  summary:
    "The storage that a transaction would access in the next block, and the gas it would need with that list.",
  result: { name: "accessList", schema: OBJECT },
  async run([call, choice = "pending", accounts, block], context) {
    const result = await simulated("createAccessList", { call, choice, accounts, block }, context);
    return result instanceof RpcError ? result : accessListAnswer(result);
  },
});

/** viem fills in its transactions by this method where a node has it. */
export const devFillTransaction = defineMethod({
  ...CALL_METHOD,
  name: "eth_fillTransaction",
  summary:
    "Fills in what an unsigned transaction for the next block lacks: nonce, gas limit, prices and chain id.",
  parameters: [required("transaction", decodePartialTransaction, CALL)],
  result: { name: "filled", schema: OBJECT },
  ports: ["chain", "newestHead", "pool", "gasPrices", "simulator", "spec", "development"],
  run: ([wanted], context) =>
    filledAnswer(wanted, context, async (call) => {
      const asked = { call, choice: "pending", accounts: undefined, block: undefined } as const;
      const result = await simulated("estimateGas", asked, context);
      return result instanceof RpcError ? result : result.gas;
    }),
});

interface Asked {
  readonly call: CallRequest;
  readonly choice: Parameters<typeof findHeader>[1];
  readonly accounts: readonly AccountOverride[] | null | undefined;
  readonly block: BlockOverride | null | undefined;
}

type Returned = Extract<SimulationResult, { readonly kind: "returned" }>;

async function simulated(
  kind: "call" | "estimateGas" | "createAccessList",
  { call, choice, accounts, block }: Asked,
  context: ContextOf<"chain" | "newestHead" | "simulator" | "development">,
): Promise<Returned | RpcError> {
  const next = choice === "pending" ? await nextBlock(context) : undefined;
  const { chain, simulator } = context.backend;
  const found = findHeader(chain, choice);
  if (found instanceof RpcError) return found;
  const blockNumber = found.header.number;
  const overrides = overridesOf(accounts, next === undefined ? block : { ...next, ...block });
  const result = await simulator.run({ kind, call, blockNumber, ...overrides }, context);
  if (result.kind === "returned") return result;
  return withHaltData(result, kind === "call" ? callError(result) : estimateError(result));
}
