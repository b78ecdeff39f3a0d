import type { StateManagerInterface } from "@ethereumjs/common";
import { EVM, EVMMockBlockchain, NobleBN254 } from "@ethereumjs/evm";
import { expectDefined } from "../../primitives/assert.ts";
import { libraryCommon } from "../libraryCommon.ts";

/**
 * What the library's instructions expect of the interpreter that runs them. The library does not export its
 * interpreter, so one is made to run a single instruction of ours, which looks at it.
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
