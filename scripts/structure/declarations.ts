import type { SourceFile } from "./sourceFiles.ts";

/** What the files of a tree declare, counted by their text. */
export interface DeclarationCounts {
  readonly files: number;
  readonly lines: number;
  readonly exports: number;
  readonly interfaces: number;
  /** Interfaces with a method, of which one class or one function makes all implementations. */
  readonly interfacesOfOneClass: number;
  readonly interfacesOfOneFactory: number;
  /** Interfaces with a method that several classes or functions implement. */
  readonly interfacesOfSeveral: number;
  /** Functions that do no more than `return new X(…)`. */
  readonly factoriesOfOneNew: number;
  /** Functions that return an object with methods which close over their variables. */
  readonly closureFactories: number;
  /** Lines of the files that join rooms: those of node/ and callers/ that use the values of two further rooms or more. */
  readonly assemblyLines: number;
}

/** Rooms in which others are joined. */
const ASSEMBLING = ["node", "callers"];
/** Rooms that everybody uses, which assembly does not join. */
const NOT_JOINED = ["primitives", "observability", "workers", "types", "chainspec", "config"];

const EXPORT =
  /^export (?:declare )?(?:default )?(?:async )?(?:abstract )?(?:function\*?|class|interface|type|const|let|enum) /gm;
const INTERFACE = /^(?:export )?interface (\w+)[^{]*\{\n([\s\S]*?)^\}/gm;
const METHOD = /^ {2}(?:readonly )?\w+\??(?:<[^>]*>)?(?:\(|: (?:<[^>]*>)?\([^)]*\) =>)/m;
const IMPLEMENTS = /\bimplements ([\w<>, ]+) \{/g;
const FUNCTION =
  /^(?:export )?(?:async )?function \w+(?:<[^>]*>)?\([\s\S]*?\): (?:Promise<)?(\w+)(?:<[^{]*>)?>* \{\n([\s\S]*?)^\}/gm;

/** Counts declarations and, by what the code says of itself, how many implementations each interface has. */
export function countDeclarations(files: readonly SourceFile[]): DeclarationCounts {
  const behaviours = new Set<string>();
  const classes = new Map<string, number>();
  const factories = new Map<string, number>();
  const bump = (counts: Map<string, number>, name: string): void => {
    counts.set(name, (counts.get(name) ?? 0) + 1);
  };
  let exported = 0;
  let interfaces = 0;
  let factoriesOfOneNew = 0;
  let closureFactories = 0;
  for (const { text } of files) {
    exported += count(text, EXPORT);
    for (const [, name = "", body = ""] of text.matchAll(INTERFACE)) {
      interfaces += 1;
      if (METHOD.test(body)) behaviours.add(name);
    }
    for (const [, names = ""] of text.matchAll(IMPLEMENTS))
      for (const name of names.split(",")) bump(classes, name.trim().replace(/<.*/, ""));
    for (const [, type = "", body = ""] of text.matchAll(FUNCTION)) {
      if (/^ {2}return new \w+(?:<[^>]*>)?\([^;]*\);\n$/.test(body)) factoriesOfOneNew += 1;
      if (!returnsMethods(body)) continue;
      closureFactories += 1;
      bump(factories, type);
    }
  }
  const made = (name: string): number => (classes.get(name) ?? 0) + (factories.get(name) ?? 0);
  const single = [...behaviours].filter((name) => made(name) === 1);
  return {
    files: files.length,
    lines: linesOf(files),
    exports: exported,
    interfaces,
    interfacesOfOneClass: single.filter((name) => classes.has(name)).length,
    interfacesOfOneFactory: single.filter((name) => factories.has(name)).length,
    interfacesOfSeveral: [...behaviours].filter((name) => made(name) > 1).length,
    factoriesOfOneNew,
    closureFactories,
    assemblyLines: linesOf(files.filter(joinsRooms)),
  };
}

function joinsRooms({ room, imports }: SourceFile): boolean {
  const rooms = imports
    .filter(({ isFile, kind }) => isFile && kind !== "type")
    .map(({ target }) => target.split("/")[0] ?? target)
    .filter((each) => !NOT_JOINED.includes(each));
  return ASSEMBLING.includes(room) && new Set(rooms.filter((each) => each !== room)).size >= 2;
}

function linesOf(files: readonly SourceFile[]): number {
  return files.reduce((sum, { text }) => sum + text.split("\n").length - 1, 0);
}

/** Whether the function's last statement returns an object with a method, or with a function of its own. */
function returnsMethods(body: string): boolean {
  const [, object = ""] = /^ {2}return \{\n?([\s\S]*?)\};?\n$/m.exec(body) ?? [];
  if (object === "") return false;
  if (/^ {4}(?:async )?(?:get )?\*?\w+\([^)]*\)[^;]*\{$|=>/m.test(object)) return true;
  const names = [...object.matchAll(/(\w+)(?=,|\s*$)/gm)].map(([, name = ""]) => name);
  return names.some((name) => new RegExp(`^ {2}(?:async )?function ${name}\\(`, "m").test(body));
}

function count(text: string, pattern: RegExp): number {
  return [...text.matchAll(pattern)].length;
}
