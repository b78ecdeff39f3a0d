import type { Abi } from "viem";
import { useKnownContract } from "../chain/knownContracts.ts";
import { commonMethod } from "../chain/methodNames.ts";
import { useDecoding } from "../chain/useDecoding.ts";
import { showText } from "../format.ts";

/** Characters of a selector: `0x` and four bytes. */
const SELECTOR = 10;
const LONGEST_NAME = 28;

/** The function that a transaction calls, by the contract's own ABI, or by a common selector. */
export function Method({ to, input }: { readonly to: string | null; readonly input: string }) {
  const known = useKnownContract(to);
  if (to === null) return <span class="badge plain">creation</span>;
  if (input.length < SELECTOR) return <span class="note">{input === "0x" ? "payment" : "data"}</span>;
  const selector = input.slice(0, SELECTOR);
  if (known !== undefined) return <OwnMethod abi={known.abi} selector={selector} />;
  return <Named name={commonMethod(selector)} selector={selector} />;
}

function OwnMethod({ abi, selector }: { readonly abi: Abi; readonly selector: string }) {
  const decoding = useDecoding();
  return <Named name={decoding?.methodIn(abi, selector) ?? commonMethod(selector)} selector={selector} />;
}

function Named({ name, selector }: { readonly name: string | undefined; readonly selector: string }) {
  return (
    <span class={`badge plain method ${name === undefined ? "hex" : ""}`} title={selector}>
      {name === undefined ? selector : showText(name, LONGEST_NAME)}
    </span>
  );
}
