const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Position after the closing quote of the JSON string that opens at `start`. */
export function endOfString(json: string, start: number): number {
  for (let index = start + 1; index < json.length; index++) {
    const code = json.charCodeAt(index);
    if (code === BACKSLASH) index++;
    else if (code === QUOTE) return index + 1;
  }
  return json.length;
}

/**
 * The same JSON laid out for people as the incumbent does with --json-pretty-print-enabled: members on lines of their
 * own, lists on one. It works on the text, so that no digit of a number is lost.
 */
export function prettyJson(json: string): string {
  const pieces: string[] = [];
  const containers: ("object" | "list")[] = [];
  let indent = "\n";
  for (let index = 0; index < json.length; ) {
    const end = endOfToken(json, index);
    const token = json.slice(index, end);
    index = end;
    switch (token) {
      case "{}":
        pieces.push("{ }");
        break;
      case "[]":
        pieces.push("[ ]");
        break;
      case "{":
        containers.push("object");
        indent += "  ";
        pieces.push("{", indent);
        break;
      case "}":
        containers.pop();
        indent = indent.slice(0, -2);
        pieces.push(indent, "}");
        break;
      case "[":
        containers.push("list");
        pieces.push("[ ");
        break;
      case "]":
        containers.pop();
        pieces.push(" ]");
        break;
      case ",":
        pieces.push(containers.at(-1) === "object" ? `,${indent}` : ", ");
        break;
      case ":":
        pieces.push(" : ");
        break;
      default:
        pieces.push(token);
    }
  }
  return pieces.join("");
}

const NEXT_SIGN = /[{}[\],:]/g;

/** End of a string, a number or word, or a sign; the brackets of something empty are one token. */
function endOfToken(json: string, start: number): number {
  const first = json[start];
  if (first === '"') return endOfString(json, start);
  if (first === "{" || first === "[") {
    return json[start + 1] === (first === "{" ? "}" : "]") ? start + 2 : start + 1;
  }
  NEXT_SIGN.lastIndex = start;
  const sign = NEXT_SIGN.exec(json)?.index ?? json.length;
  return sign === start ? start + 1 : sign;
}
