import { useState } from "preact/hooks";
import type { AbiFunction } from "viem";
import { call } from "../../chain/connection.ts";
import type { NamedValue } from "../../chain/decoding.ts";
import { readParameter } from "../../chain/parameters.ts";
import { useDecoding } from "../../chain/useDecoding.ts";
import { messageOf, showText } from "../../format.ts";
import { ValueOf } from "../../parts/values.tsx";
import { nameOf } from "./functionNames.ts";
import { ParameterFields } from "./parameterFields.tsx";

/** Calls a read function of a contract at the head. */
export function ReadFunction({ address, entry }: { readonly address: string; readonly entry: AbiFunction }) {
  const decoding = useDecoding();
  const [texts, setTexts] = useState<readonly string[]>([]);
  const [answer, setAnswer] = useState<readonly NamedValue[]>();
  const [problem, setProblem] = useState<string>();

  const ask = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (decoding === undefined) return;
    try {
      const values = entry.inputs.map((input, index) => readParameter(input, texts[index] ?? ""));
      const data = decoding.encodeCall(entry, values);
      const bytes = await call<string>("eth_call", [{ to: address, data }, "latest"]);
      setAnswer(decoding.decodeAnswer(entry, bytes));
      setProblem(undefined);
    } catch (error) {
      setAnswer(undefined);
      setProblem(messageOf(error));
    }
  };

  return (
    <details class="function">
      <summary>
        <code>{showText(nameOf(entry), 200)}</code>
      </summary>
      <form class="form" onSubmit={(event) => void ask(event)}>
        <ParameterFields inputs={entry.inputs} texts={texts} change={setTexts} />
        <button type="submit" class="button" disabled={decoding === undefined}>
          Ask
        </button>
        <div role="status">
          {problem !== undefined && <p class="problem">{showText(problem)}</p>}
          {answer?.length === 0 && <p class="note">It answers nothing.</p>}
          {answer !== undefined && answer.length > 0 && (
            <ul class="values answer">
              {answer.map(({ name, type, value }, index) => (
                <li key={index}>
                  <span class="note">{showText(name === "" ? type : `${name} ${type}`, 80)}</span>
                  <ValueOf type={type} value={value} />
                </li>
              ))}
            </ul>
          )}
        </div>
      </form>
    </details>
  );
}
