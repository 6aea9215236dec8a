"""The variables, suffixes and rules that make knows without a makefile."""

from __future__ import annotations

SUFFIXES = (
    ".out .a .ln .o .c .cc .C .cpp .p .f .F .m .r .y .l .ym .yl .s .S .mod .sym .def .h .info "
    ".dvi .tex .texinfo .texi .txinfo .w .ch .web .sh .elc .el"
)

_COMPILE = "$(CFLAGS) $(CPPFLAGS) $(TARGET_ARCH)"
_COMPILE_CXX = "$(CXXFLAGS) $(CPPFLAGS) $(TARGET_ARCH)"
_LINK = "$(LDFLAGS) $(TARGET_ARCH)"

VARIABLES = {
    ".LIBPATTERNS": "lib%.so lib%.a",
    "AR": "ar",
    "ARFLAGS": "rv",
    "AS": "as",
    "CC": "cc",
    "CHECKOUT,v": "+$(if $(wildcard $@),,$(CO) $(COFLAGS) $< $@)",
    "CO": "co",
    "COFLAGS": "",
    "COMPILE.C": "$(COMPILE.cc)",
    "COMPILE.F": "$(FC) $(FFLAGS) $(CPPFLAGS) $(TARGET_ARCH) -c",
    "COMPILE.S": "$(CC) $(ASFLAGS) $(CPPFLAGS) $(TARGET_MACH) -c",
    "COMPILE.c": f"$(CC) {_COMPILE} -c",
    "COMPILE.cc": f"$(CXX) {_COMPILE_CXX} -c",
    "COMPILE.cpp": "$(COMPILE.cc)",
    "COMPILE.f": "$(FC) $(FFLAGS) $(TARGET_ARCH) -c",
    "COMPILE.s": "$(AS) $(ASFLAGS) $(TARGET_MACH)",
    "CPP": "$(CC) -E",
    "CXX": "g++",
    "F77": "$(FC)",
    "F77FLAGS": "$(FFLAGS)",
    "FC": "f77",
    "LD": "ld",
    "LEX": "lex",
    "LEX.l": "$(LEX) $(LFLAGS) -t",
    "LINK.C": "$(LINK.cc)",
    "LINK.F": f"$(FC) $(FFLAGS) $(CPPFLAGS) {_LINK}",
    "LINK.S": "$(CC) $(ASFLAGS) $(CPPFLAGS) $(LDFLAGS) $(TARGET_MACH)",
    "LINK.c": f"$(CC) $(CFLAGS) $(CPPFLAGS) {_LINK}",
    "LINK.cc": f"$(CXX) $(CXXFLAGS) $(CPPFLAGS) {_LINK}",
    "LINK.cpp": "$(LINK.cc)",
    "LINK.f": f"$(FC) $(FFLAGS) {_LINK}",
    "LINK.o": f"$(CC) {_LINK}",
    "LINK.s": "$(CC) $(ASFLAGS) $(LDFLAGS) $(TARGET_MACH)",
    "LINT": "lint",
    "LINT.c": "$(LINT) $(LINTFLAGS) $(CPPFLAGS) $(TARGET_ARCH)",
    "MAKE": "$(MAKE_COMMAND)",
    "MAKEINFO": "makeinfo",
    "OBJC": "cc",
    "OUTPUT_OPTION": "-o $@",
    "PC": "pc",
    "PREPROCESS.F": "$(FC) $(FFLAGS) $(CPPFLAGS) $(TARGET_ARCH) -F",
    "PREPROCESS.S": "$(CC) -E $(CPPFLAGS)",
    "RM": "rm -f",
    "TEX": "tex",
    "YACC": "yacc",
    "YACC.y": "$(YACC) $(YFLAGS)",
}

RULES = (
    ("%.out", "%", "@rm -f $@ \n cp $< $@"),
    ("%.c", "%.w %.ch", "$(CTANGLE) $^ $@"),
    ("%.tex", "%.w %.ch", "$(CWEAVE) $^ $@"),
)
"""The pattern rules that come before those of suffixes: target, prerequisites, recipe."""

_LIBRARIES = "$(LOADLIBES) $(LDLIBS) -o $@"

SUFFIX_RULES = (
    (".o", "", f"$(LINK.o) $^ {_LIBRARIES}"),
    (".s", "", f"$(LINK.s) $^ {_LIBRARIES}"),
    (".S", "", f"$(LINK.S) $^ {_LIBRARIES}"),
    (".c", "", f"$(LINK.c) $^ {_LIBRARIES}"),
    (".cc", "", f"$(LINK.cc) $^ {_LIBRARIES}"),
    (".C", "", f"$(LINK.C) $^ {_LIBRARIES}"),
    (".cpp", "", f"$(LINK.cpp) $^ {_LIBRARIES}"),
    (".f", "", f"$(LINK.f) $^ {_LIBRARIES}"),
    (".F", "", f"$(LINK.F) $^ {_LIBRARIES}"),
    (".sh", "", "cat $< >$@ \n chmod a+x $@"),
    (".s", ".o", "$(COMPILE.s) -o $@ $<"),
    (".S", ".o", "$(COMPILE.S) -o $@ $<"),
    (".c", ".o", "$(COMPILE.c) $(OUTPUT_OPTION) $<"),
    (".cc", ".o", "$(COMPILE.cc) $(OUTPUT_OPTION) $<"),
    (".C", ".o", "$(COMPILE.C) $(OUTPUT_OPTION) $<"),
    (".cpp", ".o", "$(COMPILE.cpp) $(OUTPUT_OPTION) $<"),
    (".f", ".o", "$(COMPILE.f) $(OUTPUT_OPTION) $<"),
    (".F", ".o", "$(COMPILE.F) $(OUTPUT_OPTION) $<"),
    (".y", ".c", "$(YACC.y) $< \n mv -f y.tab.c $@"),
    (".l", ".c", "@$(RM) $@ \n $(LEX.l) $< > $@"),
    (".S", ".s", "$(PREPROCESS.S) $< > $@"),
)
"""The rules of two suffixes: of the prerequisite, of the target, recipe."""
