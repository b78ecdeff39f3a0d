import type { AbiFunction } from "viem";
import { forgetContract, type KnownContract, useKnownContract } from "../../chain/knownContracts.ts";
import { showText } from "../../format.ts";
import { Panel } from "../../parts/panel.tsx";
import { DescribeContract } from "./describe.tsx";
import { nameOf } from "./functionNames.ts";
import { ReadFunction } from "./readFunction.tsx";
import { Sources } from "./sources.tsx";
import { VerifyForm } from "./verifyForm.tsx";
import { WriteFunctions } from "./writeFunctions.tsx";

/** Functions of a contract to read and write, once the visitor has given its ABI. */
export function Contract({ address }: { readonly address: string }) {
  const known = useKnownContract(address);
  return known === undefined ? (
    <>
      <VerifyForm address={address} />
      <DescribeContract address={address} />
    </>
  ) : (
    <Described address={address} known={known} />
  );
}

function Described({ address, known }: { readonly address: string; readonly known: KnownContract }) {
  const functions = known.abi.filter((entry): entry is AbiFunction => entry.type === "function");
  const reading = functions.filter(isReading);
  const writing = functions.filter((entry) => !isReading(entry));
  const forget = known.verified === undefined && (
    <button type="button" class="link" onClick={() => forgetContract(address)}>
      Forget {showText(known.name, 40)}
    </button>
  );
  return (
    <>
      {known.verified !== undefined && <Sources address={address} contract={known.verified} />}
      {known.verified?.isExact === false && <VerifyForm address={address} />}
      <Panel title="Read the contract" aside={forget || undefined}>
        <ul class="functions">
          {reading.map((entry) => (
            <li key={nameOf(entry)}>
              <ReadFunction address={address} entry={entry} />
            </li>
          ))}
        </ul>
      </Panel>
      {writing.length > 0 && (
        <Panel title="Write to the contract">
          <WriteFunctions address={address} entries={writing} />
        </Panel>
      )}
    </>
  );
}

function isReading({ stateMutability }: AbiFunction): boolean {
  return stateMutability === "view" || stateMutability === "pure";
}
