import { useId, useState } from "preact/hooks";
import { useLoaded } from "../../chain/hooks.ts";
import { contractVerified } from "../../chain/knownContracts.ts";
import {
  compilers,
  LONGEST_INPUT,
  readBuildFile,
  type VerifyInput,
  verify,
} from "../../chain/verification.ts";
import { messageOf, showText } from "../../format.ts";
import { Panel } from "../../parts/panel.tsx";

/** Takes the sources of a contract for the node to compile; absent where the node verifies nothing. */
export function VerifyForm({ address }: { readonly address: string }) {
  const id = useId();
  const offered = useLoaded(compilers, []);
  const [file, setFile] = useState<VerifyInput>();
  const [contract, setContract] = useState("");
  const [compiler, setCompiler] = useState("");
  const [state, setState] = useState<{ readonly problem: string } | "asking">();
  const versions = offered.value ?? [];
  if (versions.length === 0) return null;

  const read = async (chosen: File | undefined): Promise<void> => {
    setState(undefined);
    setFile(undefined);
    if (chosen === undefined) return;
    const found = readBuildFile(await chosen.text());
    if (found === undefined) setState({ problem: "That is neither a build file nor a standard JSON input." });
    else if (found.input.length > LONGEST_INPUT)
      setState({ problem: "Its sources are longer than the node reads." });
    else {
      setFile(found);
      setContract(found.contracts[0] ?? "");
      setCompiler(versions.includes(found.compiler) ? found.compiler : (versions.at(-1) ?? ""));
    }
  };
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (file === undefined) return;
    setState("asking");
    try {
      const problem = await verify(address, { input: file.input, compiler, contract });
      if (problem === undefined) contractVerified(address);
      else setState({ problem });
    } catch (error) {
      setState({ problem: messageOf(error) });
    }
  };

  return (
    <Panel title="Verify the sources">
      <p class="muted">
        Choose a build file of Hardhat or Foundry, or a standard JSON input of solc. This node compiles it,
        and shows the sources to everybody if they give the code of this contract.
      </p>
      <form class="form" onSubmit={(event) => void submit(event)}>
        <div class="field">
          <label for={`${id}file`}>File</label>
          <input
            id={`${id}file`}
            type="file"
            accept=".json,application/json"
            onChange={({ currentTarget }) => void read(currentTarget.files?.[0])}
          />
        </div>
        {file !== undefined && (
          <>
            <div class="field">
              <label for={`${id}name`}>Contract</label>
              <input
                id={`${id}name`}
                placeholder="path/of/Source.sol:Name"
                list={`${id}names`}
                spellcheck={false}
                required
                value={contract}
                onInput={({ currentTarget }) => setContract(currentTarget.value)}
              />
              <datalist id={`${id}names`}>
                {file.contracts.slice(0, 200).map((name) => (
                  <option key={name} value={name} />
                ))}
              </datalist>
            </div>
            <div class="field">
              <label for={`${id}compiler`}>Compiler</label>
              <select
                id={`${id}compiler`}
                value={compiler}
                onChange={({ currentTarget }) => setCompiler(currentTarget.value)}
              >
                {versions.map((version) => (
                  <option key={version} value={version}>
                    {version}
                  </option>
                ))}
              </select>
            </div>
          </>
        )}
        <div role="status">
          {state === "asking" && <p class="note">The node compiles…</p>}
          {typeof state === "object" && <p class="problem">{showText(state.problem, 1_000)}</p>}
        </div>
        <button type="submit" class="button main" disabled={file === undefined || state === "asking"}>
          Verify
        </button>
      </form>
    </Panel>
  );
}
