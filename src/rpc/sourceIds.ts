import { endOfString } from "../primitives/jsonText.ts";

/**
 * Numeric ids as the caller wrote them. JSON.parse keeps 53 bits of a number, but an id of thirty digits must be echoed as
 * sent (json-rpc-errors.md#requests). The text is searched only when an id is not a safe integer, once for a whole batch.
 */
export class SourceIds {
  readonly #json: string;
  readonly #memberDepth: 1 | 2;
  #texts: readonly (string | undefined)[] | undefined;

  /** `json` is valid JSON; its requests are the outermost object, or the objects of the outermost array. */
  constructor(json: string, shape: "single" | "batch") {
    this.#json = json;
    this.#memberDepth = shape === "single" ? 1 : 2;
  }

  /** Text of the numeric id of the request at `index` of a batch, or of the single request; undefined when it has none. */
  at(index: number): string | undefined {
    this.#texts ??= findIdTexts(this.#json, this.#memberDepth);
    return this.#texts[index];
  }
}

const NUMBER = /-?[0-9][-+.eE0-9]*/y;
const WHITE_SPACE = /[ \t\n\r]*/y;

/** In valid JSON a string before a colon is a member's name, and brackets outside strings always nest correctly. */
function findIdTexts(json: string, memberDepth: number): readonly (string | undefined)[] {
  const texts: (string | undefined)[] = [];
  let depth = 0;
  let request = 0;
  for (let index = 0; index < json.length; index++) {
    const character = json[index];
    if (character === "{" || character === "[") depth++;
    else if (character === "}" || character === "]") depth--;
    else if (character === "," && depth === memberDepth - 1) request++;
    else if (character === '"') {
      const end = endOfString(json, index);
      const colon = afterMatch(WHITE_SPACE, json, end);
      if (depth === memberDepth && json[colon] === ":" && JSON.parse(json.slice(index, end)) === "id") {
        const start = afterMatch(WHITE_SPACE, json, colon + 1);
        const stop = afterMatch(NUMBER, json, start);
        texts[request] = stop > start ? json.slice(start, stop) : undefined;
      }
      index = end - 1;
    }
  }
  return texts;
}

function afterMatch(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : start;
}
