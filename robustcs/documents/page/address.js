// The address of the view: "#ANCHOR?where=FILTER&sort=ORDER&sort.TABLE=±COLUMN&q.TABLE=TEXT".
// where and sort belong to the list of turns, the others to tables. Every view has a link.

const view = { anchor: "", params: new URLSearchParams() };

const read = () => {
  const hash = location.hash.slice(1);
  const mark = hash.indexOf("?");
  try {
    view.anchor = decodeURIComponent(mark < 0 ? hash : hash.slice(0, mark));
  } catch {
    view.anchor = "";
  }
  // A plain link inside the page keeps filters and orders.
  if (mark >= 0) view.params = new URLSearchParams(hash.slice(mark + 1));
};

const written = (anchor, params) => {
  // a space is %20, as in links that other programs write
  const text = params.toString().replaceAll("+", "%20");
  return `#${anchor}${text ? `?${text}` : ""}`;
};
const address = (anchor) => written(anchor, view.params);

const remember = () => history.replaceState(null, "", address(view.anchor));

const put = (key, value) => {
  if (value) view.params.set(key, value);
  else view.params.delete(key);
  remember();
};
