import type { StateManagerInterface } from "@ethereumjs/common";
import { EVM, EVMMockBlockchain, NobleBN254 } from "@ethereumjs/evm";
import { expectDefined } from "../../primitives/assert.ts";
import { libraryCommon } from "../libraryCommon.ts";

/**
 * The prototype of the library's interpreter, whose methods its instructions call. The library does not export it, so
 * this runs a single custom instruction that captures it.
 */
export const LIBRARY_INTERPRETER: object = await findPrototype();

async function findPrototype(): Promise<object> {
  let prototype: object | undefined;
  const probe = new EVM({
    common: libraryCommon({ chainId: 0n, contractSizeLimitBytes: 0 }, "frontier"),
    stateManager: { getAccount: async () => undefined } as unknown as StateManagerInterface,
    blockchain: new EVMMockBlockchain(),
    bn254: new NobleBN254(),
    customOpcodes: [
      {
        opcode: 0,
        opcodeName: "STOP",
        baseFee: 0,
        logicFunction: ({ interpreter }) => {
          prototype = Object.getPrototypeOf(interpreter) as object;
        },
      },
    ],
  });
  await probe.runCode({ code: Uint8Array.of(0), gasLimit: 1n });
  return expectDefined(prototype, "the library's interpreter");
}
