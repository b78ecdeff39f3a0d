import { useKnownContract } from "../../chain/knownContracts.ts";
import type { Transaction } from "../../chain/types.ts";
import { useDecoding } from "../../chain/useDecoding.ts";
import { showBytes, showText } from "../../format.ts";
import { Bytes } from "../../parts/bytes.tsx";
import { Panel } from "../../parts/panel.tsx";
import { DecodedValues } from "../../parts/values.tsx";

/** Most characters of input that are shown. */
const SHOWN = 4_000;

/** The input of the transaction; absent if it only moved value. */
export function Input({ transaction: { input, to } }: { readonly transaction: Transaction }) {
  const decoding = useDecoding();
  const known = useKnownContract(to);
  if (input === "0x") return null;
  const decoded = to === null ? undefined : decoding?.decodeCall(input, known?.abi);
  return (
    <Panel title={to === null ? "Creation code" : "Input"} aside={showBytes((input.length - 2) / 2)}>
      {decoded !== undefined && <DecodedValues decoded={decoded} />}
      <details open={decoded === undefined}>
        <summary>Bytes</summary>
        <Bytes text={showText(input, SHOWN)} />
      </details>
    </Panel>
  );
}
