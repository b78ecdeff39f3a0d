import { useId, useState } from "preact/hooks";
import { keepContract, readAbi } from "../../chain/knownContracts.ts";
import { Panel } from "../../parts/panel.tsx";

/** Bytes of a file that is read. */
const LARGEST_FILE = 2_000_000;

/** Takes the ABI of a contract, pasted or from a file. It is kept in this browser and sent to nobody. */
export function DescribeContract({ address }: { readonly address: string }) {
  const id = useId();
  const [name, setName] = useState("");
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<string>();

  const keep = (event: Event): void => {
    event.preventDefault();
    const abi = readAbi(text);
    if (abi === undefined)
      setProblem("That is no ABI: a list in JSON, or a file of a compiler that has one as “abi”.");
    else keepContract(address, { name: name.trim() === "" ? "Contract" : name.trim(), abi });
  };
  const read = (file: File | undefined): void => {
    if (file === undefined) return;
    if (file.size > LARGEST_FILE) setProblem("That file is too large for an ABI.");
    else void file.text().then(setText);
    if (name === "" && file !== undefined) setName(file.name.replace(/\.json$/, ""));
  };

  return (
    <Panel title="Read and write the contract">
      <p class="muted">
        Paste the contract’s ABI, or choose its file, to read its calls and logs by name, to ask it, and to
        write to it with your wallet. It stays in this browser.
      </p>
      <form class="form" onSubmit={keep}>
        <div class="field">
          <label for={`${id}name`}>Name</label>
          <input
            id={`${id}name`}
            value={name}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
        </div>
        <div class="field">
          <label for={`${id}file`}>File</label>
          <input
            id={`${id}file`}
            type="file"
            accept=".json,application/json"
            onChange={({ currentTarget }) => read(currentTarget.files?.[0])}
          />
        </div>
        <div class="field">
          <label for={`${id}abi`}>ABI</label>
          <textarea
            id={`${id}abi`}
            rows={5}
            spellcheck={false}
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </div>
        {problem !== undefined && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <button type="submit" class="button main" disabled={text.trim() === ""}>
          Use this ABI
        </button>
      </form>
    </Panel>
  );
}
