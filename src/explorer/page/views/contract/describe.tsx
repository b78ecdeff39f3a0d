import { useId, useState } from "preact/hooks";
import { LONGEST_TEXT, readAbi, TOO_LONG } from "../../chain/abi.ts";
import { keepContract } from "../../chain/knownContracts.ts";
import { Panel } from "../../parts/panel.tsx";

/** Takes the ABI of a contract, pasted or from a file. It is kept in this browser and sent to nobody. */
export function DescribeContract({ address }: { readonly address: string }) {
  const id = useId();
  const [name, setName] = useState("");
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<string>();

  const keep = (event: Event): void => {
    event.preventDefault();
    const reading = readAbi(text);
    if ("problem" in reading) setProblem(reading.problem);
    else if (
      !keepContract(address, { name: name.trim() === "" ? "Contract" : name.trim(), abi: reading.abi })
    )
      setProblem("This browser has no room for it. Forget another contract first.");
  };
  const change = (next: string): void => {
    setText(next);
    setProblem(undefined);
  };
  const read = (file: File | undefined): void => {
    if (file === undefined) return;
    if (file.size > LONGEST_TEXT) setProblem(TOO_LONG);
    else void file.text().then(change);
    if (name === "") setName(file.name.replace(/\.json$/, ""));
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
            onInput={({ currentTarget }) => change(currentTarget.value)}
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
