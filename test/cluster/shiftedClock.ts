/**
 * Options for Node.js under which a process lives by a clock that is `aheadMs` ahead of the machine's, or behind it. Only
 * the time of day is shifted: durations stay what they are.
 */
export function shiftedClock(aheadMs: number): readonly string[] {
  const program = `
    const RealDate = Date;
    const nowMs = () => RealDate.now() + ${aheadMs};
    globalThis.Date = class Date extends RealDate {
      constructor(...given) { given.length === 0 ? super(nowMs()) : super(...given); }
      static now() { return nowMs(); }
    };`;
  return ["--import", `data:text/javascript,${encodeURIComponent(program)}`];
}
