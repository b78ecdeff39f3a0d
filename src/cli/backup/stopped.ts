/** Thrown at the next step of a command that was asked to stop. */
export class Stopped extends Error {
  override name = "Stopped";
}
