"""`nearfield derive`: names, compositions and formulas in; text, LaTeX, Markdown and HTML out."""

import pytest

from nearfield.cli import main


def run(capsys, *arguments):
    code = main(["derive", *arguments])
    return code, *capsys.readouterr()


def test_a_name_is_derived_as_text(capsys):
    code, out, _ = run(capsys, "jse", "--set", "kappa=0.3")
    assert code == 0
    assert out.startswith("The gradient of jse\n===================\n")
    assert "JensenShannon(kappa=0.3)" in out
    assert "k_ij = (β q_ij/κ) [log(z_ij/q_ij) + KL_i(Q‖Z)]" in out
    assert max(map(len, out.splitlines())) <= 80


def test_a_composition_is_derived(capsys):
    arguments = ["--cost", "js", "--kernel", "student", "--normalization", "pair", "--set", "kappa=0.3"]
    code, out, _ = run(capsys, *arguments, "--set", "dof=1")
    assert code == 0
    assert "∂C/∂y_i = (4/κ) Σ_j q_ij w_ij [log(z_ij/q_ij) + KL(Q‖Z)] (y_i − y_j)" in out


def test_formulas_are_derived_like_what_they_spell_out(capsys):
    code, out, _ = run(capsys, "--cost", "p*log(p/q)", "--kernel", "1/(1 + f)")
    assert code == 0
    assert "∂C/∂y_i = 4 Σ_j (p_ij − q_ij) w_ij (y_i − y_j)" in out
    code, out, _ = run(capsys, "--cost", "(r - d)**2")
    assert code == 0
    assert "∂C/∂y_i = 4 Σ_j ((d_ij − r_ij)/d_ij) (y_i − y_j)" in out


@pytest.mark.parametrize(
    ("ending", "kind", "start"),
    [
        (".txt", "text", "The gradient of tsne"),
        (".tex", "latex", r"\documentclass"),
        (".md", "markdown", "# The gradient of tsne"),
        (".html", "html", "<!doctype html>"),
    ],
)
def test_the_ending_of_a_file_is_its_format(capsys, tmp_path, ending, kind, start):
    path = tmp_path / f"tsne{ending}"
    code, out, _ = run(capsys, "tsne", "--out", str(path))
    assert code == 0
    assert out.startswith("wrote")
    assert path.read_text(encoding="utf-8").startswith(start)
    code, out, _ = run(capsys, "tsne", "--format", kind)
    assert code == 0
    assert out == path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "name a method"),
        (["tnse"], "did you mean 'tsne'"),
        (["pca"], "nothing to derive"),
        (["tsne", "--cost", "kl"], "and not both"),
        (["tsne", "--format", "pdf"], "--format is one of text, latex, markdown, html"),
        (["tsne", "--out", "tsne.doc"], "end the name of the file in .txt, .tex, .md, .html"),
        (["tsne", "--set", "dof=many"], "it is a number"),
        (["--cost", "kk"], "no cost is called 'kk'"),
        (["--cost", "kl", "--kernel", "gauss"], "no kernel is called 'gauss'"),
        (["--cost", "kl"], "cost of probabilities"),
        (["--cost", "stress", "--set", "kappa=1"], "neither the cost nor the kernel"),
        (["--cost", "p.real", "--kernel", "student"], "cannot read"),
    ],
)
def test_what_cannot_be_derived_is_said_in_a_line(capsys, tmp_path, monkeypatch, arguments, reason):
    monkeypatch.chdir(tmp_path)
    code, out, error = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert error.startswith("error: ")
    assert reason in error
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
