import { useId } from "preact/hooks";
import type { AbiParameter } from "viem";
import { showText } from "../../format.ts";

/** A field for each parameter of a function. */
export function ParameterFields({
  inputs,
  texts,
  change,
}: {
  readonly inputs: readonly AbiParameter[];
  readonly texts: readonly string[];
  readonly change: (texts: readonly string[]) => void;
}) {
  const id = useId();
  return (
    <>
      {inputs.map(({ name, type }, index) => (
        <div class="field" key={index}>
          <label for={`${id}.${index}`}>
            {showText(name === undefined || name === "" ? `parameter ${index + 1}` : name, 60)}{" "}
            <span class="note">{showText(type, 60)}</span>
          </label>
          <input
            id={`${id}.${index}`}
            autocomplete="off"
            spellcheck={false}
            value={texts[index] ?? ""}
            onInput={({ currentTarget }) =>
              change(inputs.map((_, at) => (at === index ? currentTarget.value : (texts[at] ?? ""))))
            }
          />
        </div>
      ))}
    </>
  );
}
