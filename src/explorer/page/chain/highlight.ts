/** A piece of a source: a comment, a text, a word of the language, a number, or other characters. */
export interface Piece {
  readonly kind: "comment" | "string" | "word" | "digits" | undefined;
  readonly text: string;
}

const WORDS = new Set(
  (
    "abstract address anonymous as assembly bool break bytes calldata case catch constant constructor continue contract " +
    "default delete do else emit enum error event external fallback false final fixed for from function if immutable " +
    "import indexed int interface internal is let library mapping memory modifier new override payable pragma private " +
    "public pure receive return returns revert solidity storage string struct super switch this throw transient true try " +
    "type uint unchecked using var view virtual while"
  ).split(" "),
);

/** Comments, texts, names and numbers; each alternative goes forwards only, so that no text takes long. */
const TOKEN =
  /(\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|("(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?)|([A-Za-z_$][\w$]*)|(\d[\w.]*)/g;
const SIZED = /^(?:u?int|bytes)\d{1,3}$/;
/** Characters that may control the direction or be unseen, except the ends of lines and tabs. */
const UNSEEN = /[\p{Cf}\p{Co}\p{Cn}\u2028\u2029]|(?![\n\t])\p{Cc}/gu;

/** A source in pieces, joined where neighbours look alike. Unseen characters are replaced, since they can reverse a line. */
export function highlight(source: string): readonly Piece[] {
  const text = source.replaceAll("\r\n", "\n").replace(UNSEEN, "\u{fffd}");
  const pieces: Piece[] = [];
  let plain = 0;
  for (const match of text.matchAll(TOKEN)) {
    const [whole, comment, quoted, name, digits] = match;
    const isWord = name !== undefined && (WORDS.has(name) || SIZED.test(name));
    const kind = comment ? "comment" : quoted ? "string" : isWord ? "word" : digits ? "digits" : undefined;
    if (kind === undefined) continue;
    if (match.index > plain) pieces.push({ kind: undefined, text: text.slice(plain, match.index) });
    pieces.push({ kind, text: whole });
    plain = match.index + whole.length;
  }
  if (plain < text.length) pieces.push({ kind: undefined, text: text.slice(plain) });
  return pieces;
}
